#include "report/distribution_plots.h"

#include <algorithm>

#include "base/check.h"
#include "metrics/quantiles.h"

namespace inferscale {
namespace {

// Ranks (from 1) to draw: evenly spaced ones, then ever closer ones towards the last.
std::vector<std::size_t> ranks_to_draw(std::size_t count, std::size_t max_points) {
  std::vector<std::size_t> ranks;
  if (count <= max_points) {
    for (std::size_t rank = 1; rank <= count; ++rank) ranks.push_back(rank);
    return ranks;
  }
  const std::size_t even = max_points / 2;
  for (std::size_t i = 0; i <= even; ++i)
    ranks.push_back(std::max<std::size_t>(1, count * i / even));
  // The distance from the end shrinks by a tenth each time, then one by one.
  std::size_t from_end = count / even;
  for (std::size_t left = max_points - even - 1; left > 0 && from_end > 0; --left) {
    from_end = std::min(from_end - 1, from_end - from_end / 10);
    ranks.push_back(count - from_end);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// The least of 1, 2, 5, 10, 20, ... that is at least `wanted`.
std::uint32_t round_width(std::uint64_t wanted) {
  std::uint64_t power = 1;
  while (true) {
    for (const std::uint64_t step : {1U, 2U, 5U}) {
      if (power * step >= wanted) return static_cast<std::uint32_t>(power * step);
    }
    power *= 10;
  }
}

}  // namespace

std::vector<CdfPoint> cdf_points(std::vector<double> values, std::size_t max_points) {
  CHECK(max_points >= 4) << "a distribution needs at least 4 points";
  std::sort(values.begin(), values.end());
  std::vector<CdfPoint> points;
  for (const std::size_t rank : ranks_to_draw(values.size(), max_points)) {
    const double value = values[rank - 1];
    if (!points.empty() && points.back().value == value) continue;
    const auto end = std::upper_bound(values.begin(), values.end(), value);
    points.push_back(
        {value, static_cast<double>(end - values.begin()) / static_cast<double>(values.size())});
  }
  return points;
}

LengthHistogram length_histogram(std::vector<std::uint32_t> values, std::size_t max_bars) {
  CHECK(max_bars >= 2) << "a histogram needs at least 2 bars";
  LengthHistogram histogram;
  if (values.empty()) return histogram;
  std::sort(values.begin(), values.end());
  histogram.min = values.front();
  histogram.max = values.back();
  // The bars cover 99 of 100 values, or all when that takes at most half as much again.
  const std::int64_t rank = nearest_rank_of(0.99, std::ssize(values));
  const std::uint64_t most = values[static_cast<std::size_t>(rank - 1)];
  const std::uint64_t low = histogram.min;
  const std::uint64_t high = histogram.max - low <= (most - low) * 3 / 2 ? histogram.max : most;
  histogram.width = round_width((high - low) / max_bars + 1);
  histogram.first = histogram.min / histogram.width * histogram.width;
  const std::uint64_t bars = (high - histogram.first) / histogram.width + 1;
  histogram.open_ended = histogram.max > high;
  histogram.counts.assign(bars + (histogram.open_ended ? 1 : 0), 0);
  for (const std::uint32_t value : values) {
    const std::size_t bar = (value - histogram.first) / histogram.width;
    ++histogram.counts[std::min(bar, histogram.counts.size() - 1)];
  }
  return histogram;
}

}  // namespace inferscale
