// Two alternatives measured in pairs: the same seed, once with each.
//
// What both share cancels in the differences (common random numbers), so that they are compared
// pair by pair: delta = treatment - baseline.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace inferscale {

struct PairedComparison {
  std::int64_t pairs = 0;
  double baseline_mean = 0;
  double treatment_mean = 0;
  double delta_mean = 0;
  double delta_median = 0;  // with an even number of pairs the mean of the two in the middle
  std::int64_t higher = 0;  // pairs in which the treatment's value is the higher one
  std::int64_t lower = 0;
  std::int64_t equal = 0;
  // The mean of delta / |baseline| over the pairs whose baseline is not 0; nothing without one.
  std::optional<double> relative_change_mean;
  std::int64_t relative_pairs = 0;
};

// REQUIRES: as many of one as of the other, all finite.
std::vector<double> paired_deltas(std::span<const double> baseline,
                                  std::span<const double> treatment);
PairedComparison compare_pairs(std::span<const double> baseline, std::span<const double> treatment);

}  // namespace inferscale
