#include "metrics/batch_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "metrics/quantiles.h"
#include "metrics/student.h"

namespace inferscale {
namespace {

// Each a third of the one before, so that means can be merged.
constexpr std::array<std::size_t, 3> kBatches = {99, 33, 11};
constexpr std::int64_t kLeastInBatch = 10;
constexpr double kLeastIndependent = 40;
constexpr double kLeastBeyond = 10;  // values of either kind, or beyond an interval's end

// Sums of batches, and how many values each holds.
struct Batches {
  std::vector<double> sums;
  std::vector<double> sizes;
  double mean = 0;  // of all values

  void merge_by_three() {
    const std::size_t k = sums.size() / 3;
    for (std::size_t j = 0; j < k; ++j) {
      sums[j] = sums[3 * j] + sums[3 * j + 1] + sums[3 * j + 2];
      sizes[j] = sizes[3 * j] + sizes[3 * j + 1] + sizes[3 * j + 2];
    }
    sums.resize(k);
    sizes.resize(k);
  }
};

Batches batches_of(const std::vector<double>& sums, const std::vector<double>& sizes) {
  Batches batches{.sums = sums, .sizes = sizes};
  double sum = 0;
  double size = 0;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    sum += sums[j];
    size += sizes[j];
  }
  batches.mean = sum / size;
  return batches;
}

struct Spread {
  double variance = 0;  // of a batch
  double lag1 = 0;
};

Spread spread_of(const Batches& batches) {
  double squares = 0;
  double steps = 0;
  double before = 0;
  for (std::size_t j = 0; j < batches.sums.size(); ++j) {
    const double off = batches.sums[j] / batches.sizes[j] - batches.mean;
    squares += off * off;
    if (j > 0) steps += (off - before) * (off - before);
    before = off;
  }
  const double variance = squares / static_cast<double>(batches.sums.size() - 1);
  return {variance, squares > 0 ? 1 - steps / (2 * squares) : 0};
}

// The interval around the mean of the batches.
ConfidenceInterval interval_of(Batches batches) {
  ConfidenceInterval interval;
  interval.lag1 = spread_of(batches).lag1;
  const double independent =
      static_cast<double>(kBatches.front()) * (1 - interval.lag1) / (1 + interval.lag1);
  if (independent < kLeastIndependent) return {.lag1 = interval.lag1};
  double half_width = -1;
  for (const std::size_t k : kBatches) {
    if (k < batches.sums.size()) batches.merge_by_three();
    const Spread spread = spread_of(batches);
    // Eleven batches may look like one line by chance: what they can widen by is bounded.
    const double r = std::clamp(spread.lag1, 0.0, 0.9);
    const double t = student_two_sided(ConfidenceInterval::kLevel, static_cast<int>(k) - 1);
    const double width =
        t * std::sqrt(spread.variance / static_cast<double>(k) * (1 + r) / (1 - r));
    if (width <= half_width) continue;
    half_width = width;
    interval.batches = static_cast<int>(k);
  }
  interval.low = batches.mean - half_width;
  interval.high = batches.mean + half_width;
  return interval;
}

}  // namespace

BatchMeans::BatchMeans(std::int64_t count)
    : count_(count), sums_(kBatches.front(), 0), sizes_(kBatches.front(), 0) {
  CHECK(count >= 0) << count << " values";
  const auto k = static_cast<std::int64_t>(kBatches.front());
  for (std::int64_t j = 0; j < k; ++j) {
    sizes_[static_cast<std::size_t>(j)] = static_cast<double>(count * (j + 1) / k - count * j / k);
  }
  batch_end_ = count / k;
  // With fewer values than batches the first ones are empty.
  if (batch_end_ == 0 && count > 0) begin_batch();
}

void BatchMeans::begin_batch() {
  CHECK(added_ < count_) << "more than " << count_ << " values";
  const auto k = static_cast<std::int64_t>(kBatches.front());
  while (added_ == batch_end_) {
    ++batch_;
    batch_end_ = count_ * (static_cast<std::int64_t>(batch_) + 1) / k;
  }
}

ConfidenceInterval BatchMeans::of_mean() const {
  CHECK(added_ == count_) << added_ << " values of " << count_;
  if (count_ < kLeastInBatch * static_cast<std::int64_t>(kBatches.front())) return {};
  ConfidenceInterval interval = interval_of(batches_of(sums_, sizes_));
  interval.low = std::max(interval.low, 0.0);  // no value is negative
  return interval;
}

ConfidenceInterval BatchMeans::of_share() const {
  ConfidenceInterval interval = of_mean();
  interval.high = std::min(interval.high, 1.0);
  double ones = 0;
  for (const double sum : sums_) ones += sum;
  const double rarer = std::min(ones, static_cast<double>(count_) - ones);
  if (rarer < kLeastBeyond) return {.lag1 = interval.lag1};
  return interval;
}

BatchQuantile::BatchQuantile(std::int64_t count, double q, double quantile, double below)
    : count_(count), q_(q), quantile_(quantile), below_(below), shares_(count) {
  CHECK(q > 0.5 && q < 1 && below <= quantile) << "q " << q << ", " << below << ", " << quantile;
}

double BatchQuantile::value_of_rank(std::int64_t rank) {
  const std::int64_t place = rank - (count_ - std::ssize(tail_)) - 1;
  if (place < 0) return below_;  // equal to it, since its own rank is lower
  std::nth_element(tail_.begin(), tail_.begin() + place, tail_.end());
  return tail_[static_cast<std::size_t>(place)];
}

ConfidenceInterval BatchQuantile::interval() {
  ConfidenceInterval interval = shares_.of_mean();
  const ConfidenceInterval none = {.lag1 = interval.lag1};
  if (!interval.exists()) return none;
  // The share at most the quantile is q, or more where values are equal: the width is what counts.
  const double h = 0.5 * (interval.high - interval.low);
  if (q_ + h > 1 - kLeastBeyond / static_cast<double>(count_)) return none;
  interval.low = value_of_rank(nearest_rank_of(q_ - h, count_));
  interval.high = value_of_rank(nearest_rank_of(q_ + h, count_));
  return interval;
}

}  // namespace inferscale
