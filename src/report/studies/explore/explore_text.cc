#include "report/studies/explore/explore_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/studies/comparison_text.h"
#include "report/studies/explore/explore_rows.h"
#include "report/studies/explore/explore_table.h"
#include "report/studies/explore/explore_verdict.h"
#include "report/studies/study_json.h"
#include "report/text/xy_plot.h"

namespace inferscale {
namespace {

// Points of the plot with their numbers in the table.
PlotSeries series_of(const std::vector<ExploreRow>& sorted, const std::string& name, PlotMark mark,
                     const std::function<bool(const ExploreRow&)>& belongs) {
  PlotSeries series{.name = name, .mark = mark};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto ttft = sorted[i].mean("ttft_ms_p95");
    const auto goodput = sorted[i].mean("goodput_rps");
    if (!ttft || !goodput || !belongs(sorted[i])) continue;
    const std::string label = sorted[i].on_any_frontier() ? std::to_string(i + 1) : "";
    series.points.push_back({.x = *ttft, .y = *goodput, .label = label});
  }
  if (series.points.empty()) series.name.clear();
  return series;
}

std::string plot(const std::vector<ExploreRow>& sorted, PlotGlyphs glyphs) {
  const auto frontier = [&](bool performance, bool efficiency) {
    return [=](const ExploreRow& row) {
      return row.on_performance_frontier == performance && row.on_efficiency_frontier == efficiency;
    };
  };
  PlotSeries line = series_of(sorted, "", PlotMark::kNone,
                              [](const ExploreRow& row) { return row.on_performance_frontier; });
  for (PlotPoint& point : line.points) point.label.clear();
  line.line = PlotLine::kStraight;
  std::sort(line.points.begin(), line.points.end(),
            [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  const std::vector<PlotSeries> series = {
      line, series_of(sorted, "beaten by another", PlotMark::kDot, frontier(false, false)),
      series_of(sorted, "efficiency frontier", PlotMark::kRing, frontier(false, true)),
      series_of(sorted, "performance frontier", PlotMark::kDisc, frontier(true, false)),
      series_of(sorted, "on both", PlotMark::kDiamond, frontier(true, true))};
  return xy_plot(series, {.label = "TTFT p95, ms", .scale = AxisScale::kLog},
                 {.label = "goodput, requests/s", .low = 0}, {.glyphs = glyphs});
}

std::string not_simulated(const std::vector<ExploreRow>& rows) {
  constexpr std::size_t kMostShown = 20;
  std::string text;
  std::size_t count = 0;
  for (const ExploreRow& row : rows) {
    if (row.simulated()) continue;
    if (++count <= kMostShown) text += wrapped("  ", row.name + ": " + row.failure);
  }
  if (count == 0) return {};
  if (count > kMostShown) {
    text += fmt::format("  and {} more (result.json has all)\n", count - kMostShown);
  }
  return fmt::format("\n{} of {} could not be simulated:\n", count,
                     number_of(std::ssize(rows), "candidate")) +
         text;
}

std::string runs_line(JsonFields& result) {
  const std::int64_t repeats = result.integer("repeats");
  const std::int64_t seed = result.integer("seed");
  const std::string seeds = repeats == 1 ? fmt::format("seed {}", seed)
                                         : fmt::format("seeds {} to {}", seed, seed + repeats - 1);
  const std::string requests = is_unlike(result, "workload")
                                   ? "the same seeds, and not the same requests,"
                                   : "the same requests";
  return wrapped("", fmt::format("All figures are simulated: means of {} ({}), with {} for every "
                                 "candidate.",
                                 number_of(repeats, "repetition"), seeds, requests));
}

}  // namespace

Result<std::string> explore_text(const std::string& result_json, PlotGlyphs glyphs) {
  const Result<Json> parsed = parse_study_result(result_json, "explore");
  if (!parsed) return std::unexpected(parsed.error());
  JsonFields result(*parsed, kResultPlace);
  const std::vector<ExploreRow> rows = read_explore_rows(result);
  if (result.failed()) return std::unexpected(result.error());
  const std::vector<ExploreRow> sorted = by_goodput(rows);

  std::string text =
      wrapped("", fmt::format("{}: {} of {} simulated", result.text("name"), sorted.size(),
                              number_of(std::ssize(rows), "candidate"))) +
      "\n" + explore_verdict(result, rows);
  if (!sorted.empty()) {
    text += "\n" + explore_table(result, sorted);
    const std::string drawn = sorted.size() > 1 ? plot(sorted, glyphs) : std::string();
    if (!drawn.empty()) text += "\n" + drawn;
  }
  text += not_simulated(rows) + "\n" + runs_line(result) + notes_text(result);
  if (result.failed()) return std::unexpected(result.error());
  return text;
}

}  // namespace inferscale
