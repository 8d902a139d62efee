// For tests: how far a sample is from the distribution that it should follow.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace inferscale {

// kolmogorov_smirnov() of a right sample exceeds this once in a thousand times.
inline constexpr double kKolmogorovSmirnovLimit = 1.95;

// The largest distance between the sample's distribution function and `cdf`, times sqrt(n).
template <typename Cdf>
double kolmogorov_smirnov(std::vector<double> values, Cdf cdf) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double below = static_cast<double>(i) / n;
    const double at = cdf(values[i]);
    distance = std::max({distance, std::fabs(at - below), std::fabs(below + 1 / n - at)});
  }
  return distance * std::sqrt(n);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

inline Moments moments_of(const std::vector<double>& values) {
  Moments result;
  const double n = static_cast<double>(values.size());
  for (double value : values) result.mean += value / n;
  for (double value : values) {
    result.deviation += (value - result.mean) * (value - result.mean) / n;
  }
  result.deviation = std::sqrt(result.deviation);
  return result;
}

}  // namespace inferscale
