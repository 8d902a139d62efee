#include "metrics/value_range.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "metrics/quantiles.h"

namespace inferscale {
namespace {

constexpr int kFractionBits = 52;
constexpr int kLeadingBits = 8;

// Never falls as the value grows: the bits of values at least 0 are in their order.
std::uint32_t bucket_of(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value + 0.0) >>
                                    (kFractionBits - kLeadingBits));
}

}  // namespace

void ValueRange::add(double value) {
  CHECK(std::isfinite(value) && value >= 0) << "a value of " << value;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = std::max(max_, value);
  ++count_;
  Bucket& bucket = buckets_[bucket_of(value)];
  bucket.least = bucket.count == 0 ? value : std::min(bucket.least, value);
  ++bucket.count;
}

double ValueRange::quantile(double q) const {
  std::int64_t rank = nearest_rank_of(q, count_);
  for (const auto& [key, bucket] : buckets_) {
    if (rank <= bucket.count) return bucket.least;
    rank -= bucket.count;
  }
  return max_;
}

}  // namespace inferscale
