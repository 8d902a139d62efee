// What tells one attempt from all others, as a key of ordered maps.

#pragma once

#include <compare>
#include <cstdint>

#include "core/request_view.h"

namespace inferscale {

struct AttemptIdentity {
  std::uint64_t request = 0;
  std::uint32_t attempt = 0;
  auto operator<=>(const AttemptIdentity&) const = default;
};

inline AttemptIdentity identity_of(const RequestView& request) {
  return {.request = request.request, .attempt = request.attempt};
}

}  // namespace inferscale
