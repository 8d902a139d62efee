// Who is governed by a policy that is enforced on a part of the traffic.
//
// A keyed hash of the caller: the same on every machine and for every retry, and no caller can pick
// a name that falls on the right side without knowing the key. SipHash-2-4 (J.-P. Aumasson and
// D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012) of the 8-byte caller key.

#pragma once

#include <cstdint>

#include "admission/gate_options.h"
#include "core/request_view.h"

namespace inferscale {

// SipHash-2-4 of the 8 bytes of `word`, little end first, under the key (k0, k1).
std::uint64_t sip_hash(std::uint64_t k0, std::uint64_t k1, std::uint64_t word);

// By tenant, else by root session or session, else by request: the coarsest that is known, from
// `by` on.
bool is_governed(const RequestView& request, double enforce, EnforceBy by, std::uint64_t key);

}  // namespace inferscale
