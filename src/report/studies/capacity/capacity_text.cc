#include "report/studies/capacity/capacity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "report/studies/capacity/capacity_reading.h"
#include "report/studies/capacity/capacity_verdict.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"
#include "report/text/xy_plot.h"

namespace inferscale {
namespace {

constexpr double kLogFrom = 30;  // highest load over lowest, from where the axis is logarithmic

std::string cell(std::optional<double> value) {
  return value ? short_number(*value) : "-";
}

std::string share(std::optional<double> value, const ReadCapacity& result) {
  return value ? attainment_text(*value, result.attainment_target) : "-";
}

// A load that failed nothing, but of which nothing was left to judge, is neither.
std::string carried_text(const ReadProbe& probe) {
  if (probe.carried) return "yes";
  const std::int64_t failed =
      probe.missed_attainment + probe.not_drained + probe.unfinished + probe.not_simulated;
  return probe.not_judged > 0 && failed == 0 ? "?" : "no";
}

std::string yields_text(const ReadCapacity& result) {
  if (!result.at_carried) return {};
  const ReadYield carried = *result.at_carried;
  const bool both = result.at_recommended.has_value();
  const ReadYield recommended = result.at_recommended.value_or(ReadYield());
  std::vector<std::string> columns = {"mean of the repetitions",
                                      ">at " + load_text(result, *result.carried)};
  if (both) columns.push_back(">at " + load_text(result, *result.recommended));
  TextTable table(std::move(columns));
  const auto add = [&](const char* name, std::optional<double> ReadYield::* figure) {
    std::vector<std::string> cells = {name, cell(carried.*figure)};
    if (both) cells.push_back(cell(recommended.*figure));
    table.add(std::move(cells));
  };
  add("offered, requests/s", &ReadYield::offered_rps);
  add("  per accelerator", &ReadYield::offered_rps_per_accelerator);
  add("goodput, requests/s", &ReadYield::goodput_rps);
  add("output tokens/s", &ReadYield::output_tokens_per_s);
  add("  per accelerator", &ReadYield::output_tokens_per_s_per_accelerator);
  add("accelerators", &ReadYield::accelerators);
  return table.text() + "\n";
}

std::string probes_text(const ReadCapacity& result) {
  TextTable table({">" + result.unit, "carried", ">mean", ">worst", ">best", ">deviation",
                   ">TTFT p95, ms", ">drain, s", ">bound, s", "missed"});
  for (const ReadProbe& probe : result.probes) {
    const std::optional<double>& deviation = probe.attainment_deviation;
    table.add({number_text(probe.load), carried_text(probe), share(probe.attainment_mean, result),
               share(probe.attainment_worst, result), share(probe.attainment_best, result),
               deviation ? fmt::format("{:.2f} %", 100 * *deviation) : "-", cell(probe.ttft_ms_p95),
               cell(probe.drain_s), cell(probe.drain_bound_s), missed_text(probe)});
  }
  std::string text = fmt::format(
      "All loads that were tried: attainment over {} repetitions, and how many of them missed "
      "what.\n",
      result.repetitions);
  if (result.keeps_window && !result.of_replicas()) {
    text += "Each load has the same time to arrive in: workload.requests grows with it.\n";
  }
  return text + table.text() + "\n";
}

void add_mark(std::optional<double> load, const char* name, PlotMark mark, double target,
              std::vector<PlotSeries>& series) {
  if (!load) return;
  series.push_back({.name = name, .mark = mark, .points = {{*load, target}}});
}

std::string plot_text(const ReadCapacity& result, PlotGlyphs glyphs) {
  PlotSeries mean{.name = "mean", .mark = PlotMark::kPlus};
  PlotSeries passed{.name = "worst, carried", .mark = PlotMark::kDisc};
  PlotSeries failed{.name = "worst, not carried", .mark = PlotMark::kCross};
  double lowest = result.attainment_target;
  for (const ReadProbe& probe : result.probes) {
    if (!probe.attainment_mean || !probe.attainment_worst) continue;
    mean.points.push_back({probe.load, 100 * *probe.attainment_mean});
    (probe.carried ? passed : failed).points.push_back({probe.load, 100 * *probe.attainment_worst});
    lowest = std::min(lowest, *probe.attainment_worst);
  }
  if (mean.points.size() < 2) return {};
  const double from = mean.points.front().x;
  const double to = mean.points.back().x;
  const double target = 100 * result.attainment_target;
  std::vector<PlotSeries> series;
  series.push_back({.name = "target",
                    .mark = PlotMark::kNone,
                    .line = PlotLine::kStraight,
                    .points = {{from, target}, {to, target}}});
  series.push_back(std::move(mean));
  series.push_back(std::move(passed));
  series.push_back(std::move(failed));
  if (result.verdict == "found") {
    add_mark(result.recommended, "recommended", PlotMark::kRing, target, series);
    add_mark(result.carried, result.of_replicas() ? "smallest fleet" : "capacity",
             PlotMark::kDiamond, target, series);
  }
  const AxisScale scale = to > kLogFrom * from ? AxisScale::kLog : AxisScale::kLinear;
  return xy_plot(series, {.label = result.unit, .scale = scale},
                 {.label = "attainment, %", .low = std::floor(lowest * 10) * 10, .high = 100},
                 {.glyphs = glyphs});
}

std::string failures_text(const ReadCapacity& result) {
  std::string text;
  for (const ReadProbe& probe : result.probes) {
    for (const std::string& failure : probe.failures) {
      text +=
          fmt::format("Not simulated at {} ({} of {} runs): {}\n", load_text(result, probe.load),
                      probe.not_simulated, probe.repetitions, failure);
    }
  }
  return text;
}

}  // namespace

Result<std::string> capacity_text(const std::string& result_json, PlotGlyphs glyphs) {
  const Result<ReadCapacity> read = read_capacity(result_json);
  if (!read) return std::unexpected(read.error());
  const ReadCapacity& result = *read;
  std::string text = fmt::format("Capacity of {} (simulated)\n\n", result.scenario);
  for (const std::string& line : capacity_verdict(result)) text += line + "\n";
  text += "\n" + yields_text(result) + probes_text(result) + plot_text(result, glyphs);
  const std::string failures = failures_text(result);
  if (!failures.empty()) text += "\n" + failures;
  for (const std::string& caution : capacity_cautions(result)) text += "\n" + caution + "\n";
  return text;
}

}  // namespace inferscale
