// What the plots of distributions are drawn from: points of a cumulative distribution, and the
// bars of a histogram of lengths.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace inferscale {

// `share` of the values are at most `value`.
struct CdfPoint {
  double value = 0;
  double share = 0;
};

// Points of the empirical distribution function, in ascending order, from the least value to the
// greatest. Every point lies exactly on the function. With more than `max_points` values not each
// has its point: between two neighbours lies at most a 1/(max_points / 2) share of the values, and
// the largest values, where a distribution's tail shows, lie closer and closer. At most
// `max_points` points. Cost: a sort. REQUIRES: max_points >= 4.
std::vector<CdfPoint> cdf_points(std::vector<double> values, std::size_t max_points);

// Bars of equal width over whole numbers: bar i counts the values in
// [first + i * width, first + (i + 1) * width), but for the last, which has no upper end when
// `open_ended`. So a few long prompts don't press all the others into one bar.
struct LengthHistogram {
  std::uint32_t first = 0;
  std::uint32_t width = 1;  // 1, 2 or 5 times a power of ten
  std::vector<std::uint64_t> counts;
  bool open_ended = false;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
};

// No bars for no values.
LengthHistogram length_histogram(std::vector<std::uint32_t> values, std::size_t max_bars);

}  // namespace inferscale
