#include "report/studies/agents/sweep_plot.h"

#include <algorithm>

#include "report/text/xy_plot.h"

namespace inferscale {
namespace {

using Rows = std::vector<SweepRowFields>;

// Beyond this ratio of the latencies the small ones would lie on each other.
constexpr double kLinearRatio = 20;

std::optional<PlotPoint> point_of(const SweepWords& words, const SweepRowFields& row) {
  const std::optional<double> ttft = row.mean("turn_ttft_ms_p95");
  const std::optional<double> against = row.mean(words.against);
  if (!ttft || !against) return std::nullopt;
  const double scale = words.against == "history_hit_rate" ? 100 : 1;
  return PlotPoint{.x = scale * *against, .y = *ttft, .label = row.on_frontier ? row.name : ""};
}

std::string frontier_plot(const SweepWords& words, const Rows& rows, PlotGlyphs glyphs) {
  PlotSeries line = {.mark = PlotMark::kNone, .line = PlotLine::kStraight};
  PlotSeries on = {.name = "on the frontier", .mark = PlotMark::kDisc};
  PlotSeries off = {.name = "beaten by another", .mark = PlotMark::kDot};
  PlotSeries lossy = {.name = "turns failed or sessions stayed incomplete",
                      .mark = PlotMark::kRing};
  double least = 0;
  double most = 0;
  for (const SweepRowFields& row : rows) {
    std::optional<PlotPoint> point = point_of(words, row);
    if (!point) continue;
    least = most == 0 ? point->y : std::min(least, point->y);
    most = std::max(most, point->y);
    if (row.on_frontier) line.points.push_back({.x = point->x, .y = point->y});
    const bool lost = row.mean("turns_failed").value_or(0) + row.incomplete.value_or(0) > 0;
    (lost ? lossy : row.on_frontier ? on : off).points.push_back(std::move(*point));
  }
  if (on.points.size() + off.points.size() + lossy.points.size() < 2) return {};
  std::sort(line.points.begin(), line.points.end(),
            [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  std::vector<PlotSeries> series = {line, off, lossy, on};
  std::erase_if(series, [](const PlotSeries& one) { return one.points.empty(); });
  const bool log = least > 0 && most > kLinearRatio * least;
  PlotAxis y = {.label = "turn TTFT p95, ms", .scale = log ? AxisScale::kLog : AxisScale::kLinear};
  if (!log) y.low = 0;
  return xy_plot(series, {.label = words.axis}, y, {.glyphs = glyphs});
}

std::string budget_plot(const SweepWords& words, const Rows& rows, PlotGlyphs glyphs) {
  struct Share {
    const char* name;
    const char* metric;
    PlotMark mark;
  };
  constexpr Share kShares[] = {{"history found", "history_hit_rate", PlotMark::kDot},
                               {"sessions complete in time", "session_attainment", PlotMark::kRing},
                               {"turns within the SLO", "turn_attainment", PlotMark::kDisc}};
  std::vector<PlotSeries> series;
  std::size_t points = 0;
  for (const Share& share : kShares) {
    PlotSeries one = {.name = share.name, .mark = share.mark, .line = PlotLine::kStraight};
    for (const SweepRowFields& row : rows) {
      const std::optional<double> value = row.mean(share.metric);
      if (value && row.value) one.points.push_back({.x = *row.value, .y = 100 * *value});
    }
    points = std::max(points, one.points.size());
    if (!one.points.empty()) series.push_back(std::move(one));
  }
  if (points < 2) return {};
  return xy_plot(series, {.label = words.axis, .low = 0}, {.label = "%", .low = 0, .high = 100},
                 {.glyphs = glyphs});
}

}  // namespace

std::string sweep_plot(const SweepWords& words, const Rows& rows, PlotGlyphs glyphs) {
  return words.against.empty() ? budget_plot(words, rows, glyphs)
                               : frontier_plot(words, rows, glyphs);
}

}  // namespace inferscale
