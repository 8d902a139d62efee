// Random choices that hang on nothing but the run's seed and the request: the same request draws
// the same numbers, however often and in whatever order it is asked about.

#pragma once

#include <cstdint>

#include "base/random.h"
#include "core/request.h"

namespace inferscale {

class RequestDraws {
 public:
  // REQUIRES: `key` comes from draw_key().
  RequestDraws(std::uint64_t key, RequestId request) : bits_(key + request) {}
  // Below `bound`; each value is as likely as the others up to bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((bits_.next() >> 32) * bound >> 32);
  }

 private:
  SplitMix64 bits_;
};

// Sets the draws of routers apart from the other consumers of the seed.
std::uint64_t draw_key(std::uint64_t seed);

}  // namespace inferscale
