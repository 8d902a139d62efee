#include "admission/policies/busiest_bucket.h"

#include "base/check.h"

namespace inferscale {

BusiestBucket::BusiestBucket(Duration bucket, std::int64_t buckets)
    : length_(bucket), buckets_(static_cast<std::size_t>(buckets)) {
  CHECK(bucket.ns() > 0) << bucket.ns();
}

void BusiestBucket::advance(Instant now) {
  const std::int64_t number = now.ns() / length_.ns();
  const auto size = static_cast<std::int64_t>(buckets_.size());
  for (std::int64_t n = std::max(newest_ + 1, number - size + 1); n <= number; ++n) {
    buckets_[static_cast<std::size_t>(n % size)] = {};
  }
  newest_ = std::max(newest_, number);
}

void BusiestBucket::add(double cost) {
  Bucket& bucket = buckets_[static_cast<std::size_t>(newest_) % buckets_.size()];
  bucket.count += 1;
  bucket.cost += cost;
}

BusiestBucket::Load BusiestBucket::load() const {
  return load_of(0, 0);
}

BusiestBucket::Load BusiestBucket::load_with(double extra_cost) const {
  return load_of(1, extra_cost);
}

BusiestBucket::Load BusiestBucket::load_of(double extra_count, double extra_cost) const {
  double busiest =
      buckets_[static_cast<std::size_t>(newest_) % buckets_.size()].count + extra_count;
  double count = extra_count;
  double cost = extra_cost;
  for (const Bucket& bucket : buckets_) {
    busiest = std::max(busiest, bucket.count);
    count += bucket.count;
    cost += bucket.cost;
  }
  return {.rate_per_s = busiest / length_.seconds(), .mean_cost = count > 0 ? cost / count : 0};
}

}  // namespace inferscale
