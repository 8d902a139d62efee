// Quantiles and means of a population: the one implementation of a percentile in the project.
//
// A percentile is the nearest-rank one: of n values the p-quantile is the value of rank ceil(p n)
// (Hyndman and Fan 1996, definition 1): a value that occurred, never an interpolation.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace inferscale {

// What is reported of a population; all zero when count is 0.
struct PopulationSummary {
  std::int64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

// The rank, from 1, of the q-quantile of n values. REQUIRES: n >= 1, 0 < q <= 1.
std::int64_t nearest_rank_of(double q, std::int64_t n);

// The q-quantile of values sorted in ascending order. REQUIRES: not empty, 0 < q <= 1.
double nearest_rank(std::span<const double> sorted, double q);

// Reorders `values`. Cost: linear in their number, no memory.
PopulationSummary summarize(std::vector<double>& values);

}  // namespace inferscale
