// One look at a replica's metrics page, normalised: what the signals are made of.

#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

// What the page does not have is not set. Counters run from the engine's start, and begin anew
// when it restarts.
struct EngineReading {
  Instant observed_at;
  std::optional<double> queue_depth;
  std::optional<double> running;
  std::optional<double> kv_used_fraction;
  std::optional<TokenCount> kv_capacity_tokens;
  std::optional<double> prefix_queries;    // counter, tokens
  std::optional<double> prefix_hits;       // counter, tokens
  std::optional<double> preemptions;       // counter
  std::optional<double> generated_tokens;  // counter
};

}  // namespace inferscale
