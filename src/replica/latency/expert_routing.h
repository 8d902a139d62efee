// Which experts the tokens of a step visit, when routing is uniform: each token visits k of E
// experts, every choice of k being as likely.
//
//   P(no one of T tokens visits a given expert) = (1 - k/E)^T
//   P(a token visits none of the g experts of an accelerator)
//       = C(E - g, k) / C(E, k) = product over i < k of (E - g - i) / (E - i)
//
// Real routers are less even: the fullest accelerator is the one that others wait for, and this
// does not say by how much.

#pragma once

#include <cstdint>

#include "catalog/model_spec.h"

namespace inferscale {

// The part of the experts that somebody visits, in expectation.
double visited_part(const MoeSpec& moe, std::int64_t tokens);

// Accelerators that hold at least one of a token's experts, in expectation, when E experts lie
// evenly on `accelerators`.
double expected_destinations(const MoeSpec& moe, std::int64_t accelerators);

}  // namespace inferscale
