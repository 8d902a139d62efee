// The `deployment.router` part of a configuration: which policy chooses a replica, and its numbers.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/config_reader.h"
#include "base/time.h"
#include "core/request.h"

namespace inferscale {

enum class RouterPolicy : std::uint8_t {
  kRoundRobin,       // the next one, in order of index
  kRandom,           // any one
  kLeastLoad,        // fewest requests, waiting or running, over its weight
  kLeastTokens,      // fewest tokens to compute and generate, over its weight
  kLeastKv,          // smallest part of its KV cache in use
  kPowerOfTwo,       // the less loaded of two drawn at random
  kPrefixAware,      // least tokens, less those of the prompt that it has probably cached
  kSessionAffinity,  // where the session was before
  kBoundedAffinity,  // the same, unless the wait there is longer by more than a slack
};

// As written in configurations.
std::string_view policy_name(RouterPolicy policy);

struct RouterOptions {
  RouterPolicy policy = RouterPolicy::kLeastLoad;
  // The router sees the replicas as they were up to so long ago. At zero, a reading is taken as of
  // the moment it arrives.
  Duration staleness;
  // Readings are corrected by what was dispatched and what finished since they were observed.
  bool corrections = true;
  // prefix_aware: what a cached prompt token is worth, in tokens in flight.
  double prefix_weight = 1;
  // prefix_aware: tokens of prompts remembered for each replica. Nothing: as many as fit in its KV
  // cache, or kIndexTokens when that is not known.
  std::optional<TokenCount> index_tokens;
  // session_affinity, bounded_affinity: how many sessions' homes are remembered.
  std::int64_t most_sessions = 1'000'000;
  // bounded_affinity: the longest extra wait that the home replica may cost.
  Duration affinity_slack = Duration::nanos(200'000'000);

  static constexpr TokenCount kIndexTokens = 500'000;
};

// Reads the map `router` of `deployment`.
RouterOptions read_router(ConfigReader& deployment);

}  // namespace inferscale
