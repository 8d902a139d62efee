// A histogram of durations with a bounded relative error, for populations too large to keep.
//
// Values below 128 ns have a bucket each; above, every power of two is divided into 128 buckets,
// so a bucket is at most 1/128 as wide as the values in it. Quantiles return the middle of the
// bucket: they are within 0.4 % of the exact nearest-rank value. Weights are counts.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/time.h"

namespace inferscale {

class DurationHistogram {
 public:
  static constexpr double kRelativeError = 0.004;

  // REQUIRES: value >= 0.
  void add(Duration value, std::int64_t weight) {
    counts_[bucket_of(value.ns())] += weight;
    total_ += weight;
    sum_ns_ += static_cast<double>(value.ns()) * static_cast<double>(weight);
    if (value > max_ && weight > 0) max_ = value;
  }
  // Adds `steps` values first_ns, first_ns + growth_ns, ..., each with `weight`: the same as as
  // many calls of add() with the values cut to whole nanoseconds, at the cost of the buckets they
  // span.
  void add_run(double first_ns, double growth_ns, std::int64_t steps, std::int64_t weight) {
    if (steps <= 0 || weight <= 0) return;
    const double n = static_cast<double>(steps);
    const auto first = static_cast<std::int64_t>(first_ns);
    const auto last =
        static_cast<std::int64_t>(first_ns + growth_ns * static_cast<double>(steps - 1));
    const size_t bucket = bucket_of(first);
    if (bucket_of(last) == bucket) {
      counts_[bucket] += steps * weight;
    } else {
      count_run(first_ns, growth_ns, steps, weight);
    }
    total_ += steps * weight;
    sum_ns_ += static_cast<double>(weight) * (n * first_ns + growth_ns * 0.5 * n * (n - 1.0));
    max_ = std::max(max_, Duration::nanos(last));
  }

  std::int64_t total() const { return total_; }
  Duration max() const { return max_; }
  double mean_ns() const { return total_ == 0 ? 0 : sum_ns_ / static_cast<double>(total_); }
  // The nearest-rank quantile, 0 < q <= 1, to kRelativeError. REQUIRES: total() > 0.
  Duration quantile(double q) const;

 private:
  static constexpr int kSubBits = 7;
  static constexpr std::int64_t kSub = 1 << kSubBits;
  static constexpr size_t kBuckets = (64 - kSubBits) * kSub;

  static size_t bucket_of(std::int64_t ns) {
    if (ns < kSub) return static_cast<size_t>(ns);
    const int shift = 63 - std::countl_zero(static_cast<std::uint64_t>(ns)) - kSubBits;
    return static_cast<size_t>((static_cast<std::int64_t>(shift) << kSubBits) + (ns >> shift));
  }
  static std::int64_t bucket_begin(size_t bucket);
  void count_run(double first_ns, double growth_ns, std::int64_t steps, std::int64_t weight);

  std::array<std::int64_t, kBuckets> counts_{};
  std::int64_t total_ = 0;
  double sum_ns_ = 0;
  Duration max_;
};

}  // namespace inferscale
