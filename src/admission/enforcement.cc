#include "admission/enforcement.h"

namespace inferscale {
namespace {

struct SipState {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  static std::uint64_t rotate(std::uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
  }
  void round() {
    v0 += v1;
    v1 = rotate(v1, 13) ^ v0;
    v0 = rotate(v0, 32);
    v2 += v3;
    v3 = rotate(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotate(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotate(v1, 17) ^ v2;
    v2 = rotate(v2, 32);
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

std::uint64_t caller_of(const RequestView& request, EnforceBy by) {
  if (by == EnforceBy::kTenant && request.tenant != kNoCaller) return request.tenant;
  if (by != EnforceBy::kRequest) {
    if (request.root_session != kNoCaller) return request.root_session;
    if (request.session != kNoCaller) return request.session;
  }
  return request.request;
}

}  // namespace

std::uint64_t sip_hash(std::uint64_t k0, std::uint64_t k1, std::uint64_t word) {
  SipState state{.v0 = k0 ^ 0x736f6d6570736575U,
                 .v1 = k1 ^ 0x646f72616e646f6dU,
                 .v2 = k0 ^ 0x6c7967656e657261U,
                 .v3 = k1 ^ 0x7465646279746573U};
  state.take(word);
  state.take(std::uint64_t{8} << 56);  // the length
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

bool is_governed(const RequestView& request, double enforce, EnforceBy by, std::uint64_t key) {
  if (enforce >= 1) return true;
  if (enforce <= 0) return false;
  const std::uint64_t hash = sip_hash(key, ~key, caller_of(request, by));
  return static_cast<double>(hash >> 11) * 0x1p-53 < enforce;
}

}  // namespace inferscale
