// What a router is told about a replica: readings of its state, and what does not change.

#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

// A reading of one replica's state at `observed_at`. A signal without a value is unknown; one out
// of its range (negative, a fraction above 1) is taken as unknown too.
struct ReplicaSignals {
  Instant observed_at;
  std::optional<std::int64_t> queue_depth;
  std::optional<std::int64_t> running;
  std::optional<double> kv_used_fraction;
  // Prompt tokens still to be computed and requested output tokens still to come.
  std::optional<TokenCount> tokens_in_flight;
};

// What does not change about a replica.
struct ReplicaTraits {
  double weight = 1;  // capacity relative to the others. REQUIRES: > 0
  // Time that a token in flight adds to the wait of a newcomer; bounded_affinity compares waits.
  double token_ns = 0;
  TokenCount kv_cache_tokens = 0;  // that the KV cache holds; 0: not known
};

}  // namespace inferscale
