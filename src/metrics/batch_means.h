// Confidence intervals from one run, whose values hang together: nonoverlapping batch means.
//
// The values, in order, are cut into k batches of equal size (to one). When batches are long enough
// their means Y_j are nearly independent and normal, and the run's mean Y lies within
//
//   t(k - 1, 95 %) s / sqrt(k),      s^2 = sum (Y_j - Y)^2 / (k - 1)
//
// of the true one in 95 % of all runs (A. M. Law and J. S. Carson, Operations Research 27(5) 1979).
//
// Whether they are long enough is looked at, not assumed. Of 99 batches the lag-1 correlation is
// estimated, r = 1 - sum (Y_j - Y_j+1)^2 / (2 sum (Y_j - Y)^2) (von Neumann's ratio). Were the
// batches a first-order autoregression, they would be worth 99 (1 - r) / (1 + r) independent ones:
// with fewer than 40 there is no interval. Else it is the widest of those from 99, 33 and 11
// batches, each widened by sqrt((1 + r) / (1 - r)) for its own r above 0 (the adjustment of
// A. Tafazzoli, J. R. Wilson, E. K. Lada and N. M. Steiger, INFORMS J. on Computing 23(2) 2011).
//
// The interval of a quantile follows from that of a mean: of the share of values at most the run's
// own q-quantile, q give or take h. Its ends are the run's quantiles of q - h and q + h. So nothing
// is assumed about the density there, and the interval is as lopsided as the tail.
//
// docs/metrics.md states the coverage that the tests measure.

// Values are handed in one by one, so that one reading of a run serves all its figures; memory is
// constant for a mean, and a few percent of the values for a high quantile.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inferscale {

struct ConfidenceInterval {
  static constexpr double kLevel = 0.95;

  int batches = 0;  // that gave the widest; 0: no interval is justified
  double lag1 = 0;  // correlation of neighbours among 99 batches
  double low = 0;   // both ends 0 without an interval
  double high = 0;

  bool exists() const { return batches > 0; }
};

// Of the mean of values that are at least 0.
class BatchMeans {
 public:
  // How many values are going to come.
  explicit BatchMeans(std::int64_t count);

  // REQUIRES: called at most `count` times.
  void add(double value) {
    if (added_ == batch_end_) begin_batch();
    ++added_;
    sums_[batch_] += value;
  }

  // Values that the present batch still takes: then begins the next one.
  std::int64_t left_in_batch() {
    if (added_ == batch_end_ && added_ < count_) begin_batch();
    return batch_end_ - added_;
  }
  // As many calls of add() in one: `sum` is that of all values of a batch, in order.
  // REQUIRES: `values` is what left_in_batch() said when the batch began.
  void add_batch(double sum, std::int64_t values) {
    if (added_ == batch_end_) begin_batch();
    added_ += values;
    sums_[batch_] += sum;
  }

  // REQUIRES for all below: all values have come.
  ConfidenceInterval of_mean() const;
  // Of a probability: the values are 0 and 1, and both came at least ten times.
  ConfidenceInterval of_share() const;

 private:
  void begin_batch();

  std::int64_t count_;
  std::int64_t added_ = 0;
  std::size_t batch_ = 0;
  std::int64_t batch_end_ = 0;
  std::vector<double> sums_;
  std::vector<double> sizes_;
};

// Of the q-quantile, which is `quantile` over all values.
class BatchQuantile {
 public:
  // `below` is any quantile of at most 2 q - 1: an interval whose upper end exists never reaches
  // below it. REQUIRES: 0.5 < q < 1.
  BatchQuantile(std::int64_t count, double q, double quantile, double below);

  void add(double value) { shares_.add(look_at(value) ? 1 : 0); }
  // add() in two parts: looks at every value, of which the batch's last call counts those that were
  // at most the quantile.
  bool look_at(double value) {
    if (value > below_) tail_.push_back(value);
    return value <= quantile_;
  }
  void add_batch(std::int64_t at_most, std::int64_t values) {
    shares_.add_batch(static_cast<double>(at_most), values);
  }

  // REQUIRES: all values have come.
  ConfidenceInterval interval();

 private:
  // The value of the rank `rank`, from 1, among all values.
  double value_of_rank(std::int64_t rank);

  std::int64_t count_;
  double q_;
  double quantile_;
  double below_;
  BatchMeans shares_;
  std::vector<double> tail_;  // values above below_
};

}  // namespace inferscale
