// How well two records of the same run agree: order, times, series.

#pragma once

#include <cstdint>
#include <span>

namespace inferscale {

// Kendall's rank correlation of two columns of the same rows: the share of pairs in the same order
// less the share in opposite orders, of the pairs that neither column ties; 1 is the same order.
// REQUIRES: as many of each, and a pair without a tie.
double kendall_tau(std::span<const double> left, std::span<const double> right);

// Pairs i < j whose `times` are in the opposite order.
std::int64_t inversions(std::span<const double> times);

struct Errors {
  double mean = 0;           // of ours less theirs
  double mean_absolute = 0;  // of their absolute values
  double p95_absolute = 0;   // nearest rank
  double root_mean_square = 0;
};

// REQUIRES: as many of each, at least one.
Errors errors_of(std::span<const double> ours, std::span<const double> theirs);

double mean_of(std::span<const double> values);

}  // namespace inferscale
