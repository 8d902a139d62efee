#include "admission/policy.h"

#include "base/random.h"

namespace inferscale {

double policy_draw(std::uint64_t seed, std::string_view policy, const RequestView& request) {
  SplitMix64 bits(seed ^ stable_hash(policy));
  const std::uint64_t policy_key = bits.next();
  SplitMix64 of_request(policy_key ^ request.request);
  SplitMix64 of_attempt(of_request.next() + request.attempt);
  of_attempt.next();
  return (static_cast<double>(of_attempt.next() >> 12) + 0.5) * 0x1p-52;
}

}  // namespace inferscale
