// The range and quantiles of values that are too many to keep, in bounded memory.
//
// Values are counted in buckets by their exponent and the leading 8 bits of their fraction, so a
// quantile is within 0.4 % of the exact nearest-rank one; it is exact where a bucket has met one
// value only, as those of small counts do. Memory: a bucket for each that was met, at most some ten
// thousand.

#pragma once

#include <cstdint>
#include <map>

namespace inferscale {

class ValueRange {
 public:
  static constexpr double kRelativeError = 0.004;

  // REQUIRES: the value is finite and at least 0.
  void add(double value);
  std::int64_t count() const { return count_; }
  // The rest REQUIRES: count() > 0.
  double min() const { return min_; }
  double max() const { return max_; }
  // The least value of the bucket that holds the nearest-rank one, 0 < q <= 1.
  double quantile(double q) const;

 private:
  struct Bucket {
    std::int64_t count = 0;
    double least = 0;
  };
  std::map<std::uint32_t, Bucket> buckets_;
  std::int64_t count_ = 0;
  double min_ = 0;
  double max_ = 0;
};

}  // namespace inferscale
