#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "metrics/session_times.h"
#include "metrics/sessions_over_time.h"
#include "report/text/session_text.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr int kPlotColumns = 64;
constexpr int kPlotRows = 5;

std::string distribution(const char* title, std::vector<double> values, const char* unit,
                         PlotGlyphs glyphs) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return std::string(title) + "\n" + cdf_plot(values, unit, kPlotColumns, kPlotRows, glyphs) + "\n";
}

std::string over_time(const ProgramRecords& records, std::span<const Outcome> outcomes, Instant end,
                      PlotGlyphs glyphs) {
  const Instant shown = busy_end(records.calls, outcomes, end);
  const SessionsOverTime over = sessions_over_time(records, outcomes, shown, kPlotColumns);
  if (over.sessions.empty()) return {};
  std::string out =
      shown == end ? fmt::format("Over {} s, left to right\n", short_number(end.seconds()))
                   : fmt::format(
                         "Over the first {} of {} s, when 99 % of the turns had finished, left to "
                         "right\n",
                         short_number(shown.seconds()), short_number(end.seconds()));
  const auto row = [&](const char* name, const std::vector<double>& means) {
    const double highest = *std::max_element(means.begin(), means.end());
    out += fmt::format("  {:<22}{} highest mean {}\n", name,
                       sparkline(means, highest, kPlotColumns, glyphs), short_number(highest));
  };
  row("sessions in progress", over.sessions);
  row("turns at the engine", over.turns);
  return out;
}

}  // namespace

std::string session_plots(const ProgramRecords& records, std::span<const Outcome> outcomes,
                          Instant end, PlotGlyphs glyphs) {
  std::vector<double> ttft_ms;
  for (const CallRecord& call : records.calls) {
    if (call.status != CallStatus::kFinished) continue;
    ttft_ms.push_back((outcomes[call.request].first_token - call.ready).millis());
  }
  std::vector<double> makespans_s;
  for (const SessionRecord& session : records.sessions) {
    if (session.complete()) makespans_s.push_back((session.end - session.begin).seconds());
  }
  return distribution("Share of finished turns with at most this TTFT", std::move(ttft_ms), "ms",
                      glyphs) +
         distribution("Share of complete sessions with at most this makespan",
                      std::move(makespans_s), "s", glyphs) +
         over_time(records, outcomes, end, glyphs);
}

}  // namespace inferscale
