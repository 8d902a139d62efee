// How far predictions are from measurements, over a set of cases.
//
// Of a case with measured m > 0 and predicted p:
//   residual        p - m, in the metric's unit
//   relative error  (p - m) / m
//   APE             |p - m| / m, the absolute percentage error as a fraction
// Over n cases: MAPE is the mean APE; the median APE is the middle one of them (of an even number,
// the mean of the middle two); the maximum APE the largest; the bias the mean relative error, with
// its sign: above 0 the predictions are too high.

#pragma once

#include <cstdint>
#include <span>

namespace inferscale {

struct ErrorStatistics {
  std::int64_t n = 0;
  double mape = 0;
  double median_ape = 0;
  double max_ape = 0;
  double bias = 0;
  std::int64_t within_quarter = 0;  // cases whose APE is at most 0.25
  bool operator==(const ErrorStatistics&) const = default;
};

// REQUIRES: not empty.
ErrorStatistics error_statistics(std::span<const double> relative_errors);

}  // namespace inferscale
