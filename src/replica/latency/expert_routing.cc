#include "replica/latency/expert_routing.h"

#include <algorithm>

namespace inferscale {
namespace {

// base^n for n >= 0 by squaring: only multiplications, so the same bits everywhere.
double power(double base, std::int64_t n) {
  double result = 1.0;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

double visited_part(const MoeSpec& moe, std::int64_t tokens) {
  const double visited = static_cast<double>(moe.experts_per_token);
  return 1.0 - power(1.0 - visited / static_cast<double>(moe.experts), tokens);
}

double expected_destinations(const MoeSpec& moe, std::int64_t accelerators) {
  const double experts = static_cast<double>(moe.experts);
  const double each = experts / static_cast<double>(accelerators);
  double missed = 1.0;
  for (std::int64_t i = 0; i < moe.experts_per_token; ++i) {
    const double drawn = static_cast<double>(i);
    missed *= std::max(0.0, experts - each - drawn) / (experts - drawn);
  }
  return static_cast<double>(accelerators) * (1.0 - missed);
}

}  // namespace inferscale
