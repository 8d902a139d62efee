#include "routing/policies/draws.h"

namespace inferscale {

std::uint64_t draw_key(std::uint64_t seed) {
  return SplitMix64(SplitMix64(seed).next() ^ stable_hash("router")).next();
}

}  // namespace inferscale
