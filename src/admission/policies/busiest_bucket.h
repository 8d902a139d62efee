// Costs of what came within a sliding window, counted in buckets of even length.
//
// The newest bucket is the one that `now` falls in; a bucket leaves the window when its end does.
// Constant time an addition, linear in buckets for the maximum.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace inferscale {

class BusiestBucket {
 public:
  // REQUIRES: bucket > 0; buckets >= 1.
  BusiestBucket(Duration bucket, std::int64_t buckets);

  // REQUIRES: `now` never goes back.
  void advance(Instant now);
  // In the newest bucket.
  void add(double cost);

  // As they would be with one more of `extra_cost` in the newest bucket.
  struct Load {
    double rate_per_s = 0;  // of the busiest bucket
    double mean_cost = 0;   // of all in the window
  };
  Load load() const;
  Load load_with(double extra_cost) const;

 private:
  struct Bucket {
    double count = 0;
    double cost = 0;
  };
  Load load_of(double extra_count, double extra_cost) const;

  Duration length_;
  std::vector<Bucket> buckets_;  // a ring: bucket number n at n modulo its size
  std::int64_t newest_ = 0;
};

}  // namespace inferscale
