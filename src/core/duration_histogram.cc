#include "core/duration_histogram.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

std::int64_t DurationHistogram::bucket_begin(size_t bucket) {
  const auto index = static_cast<std::int64_t>(bucket);
  if (index < 2 * kSub) return index;
  const std::int64_t shift = (index >> kSubBits) - 1;
  return (index - (shift << kSubBits)) << shift;
}

void DurationHistogram::count_run(double first_ns, double growth_ns, std::int64_t steps,
                                  std::int64_t weight) {
  const auto value = [&](std::int64_t i) {
    return static_cast<std::int64_t>(first_ns + growth_ns * static_cast<double>(i));
  };
  std::int64_t done = 0;
  while (done < steps) {
    const size_t bucket = bucket_of(value(done));
    std::int64_t end = steps;  // the first index past this bucket
    if (bucket_of(value(steps - 1)) != bucket) {
      const double edge = static_cast<double>(bucket_begin(bucket + 1));
      const double guess = (edge - first_ns) / growth_ns;
      end = std::clamp(static_cast<std::int64_t>(guess), done + 1, steps);
      while (end > done + 1 && bucket_of(value(end - 1)) != bucket) --end;
      while (end < steps && bucket_of(value(end)) == bucket) ++end;
    }
    counts_[bucket] += (end - done) * weight;
    done = end;
  }
}

Duration DurationHistogram::quantile(double q) const {
  CHECK(total_ > 0 && q > 0 && q <= 1) << "quantile " << q << " of " << total_ << " values";
  const double exact = q * static_cast<double>(total_);
  auto rank = static_cast<std::int64_t>(exact);
  if (static_cast<double>(rank) < exact) ++rank;
  std::int64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank) {
      const std::int64_t begin = bucket_begin(bucket);
      const std::int64_t width = bucket_begin(bucket + 1) - begin;
      return std::min(Duration::nanos(begin + (width - 1) / 2), max_);
    }
  }
  return max_;
}

}  // namespace inferscale
