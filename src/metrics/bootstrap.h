// How far a mean of a few independent values can be trusted: bootstrap intervals.
//
// The values are drawn from with replacement, as many as there are, again and again; the means of
// these resamples, sorted, stand for the distribution of the mean (B. Efron, "Bootstrap methods",
// Annals of Statistics 7(1) 1979). Two intervals are read from them at confidence 1 - a:
//
//   percentile   from the a/2 to the 1 - a/2 quantile of the resamples' means. With few values it
//                is too narrow: resamples of n values spread by sqrt((n - 1) / n) too little, and
//                their tails are normal where Student's are called for
//   expanded     the same with a' in place of a, where
//                  a'/2 = P(Z > t sqrt(n / (n - 1))),  P(|T| <= t) = 1 - a, n - 1 degrees
//                which makes up for both (T. Hesterberg, "What teachers should know about the
//                bootstrap", The American Statistician 69(4) 2015, on narrowness bias)
//
// docs/commands/ab.md states the coverage that the tests measure for both.
// Cost: resamples x values random numbers, about 2 ns each.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"

namespace inferscale {

struct MeanInterval {
  double low = 0;
  double high = 0;
  bool holds(double value) const { return low <= value && value <= high; }
  bool operator==(const MeanInterval&) const = default;
};

class BootstrapMeans {
 public:
  // REQUIRES: at least one value, all finite; resamples >= 1.
  BootstrapMeans(std::span<const double> values, std::int64_t resamples, RandomStream stream);

  // REQUIRES for both: 0 < confidence < 1.
  MeanInterval percentile(double confidence) const;
  // Nothing when there are too few values: the most extreme resample, the least value n times, has
  // a probability of n^-n, and no quantile below that exists. 95 % takes 5 values, 99 % takes 7.
  std::optional<MeanInterval> expanded(double confidence) const;

 private:
  // `tail` of the resamples are cut off at either end.
  MeanInterval between(double tail) const;

  std::int64_t values_;
  std::vector<double> means_;  // of the resamples, sorted
};

}  // namespace inferscale
