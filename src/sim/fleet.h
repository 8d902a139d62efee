// A fleet: groups of equal replicas behind a router, or a prefill and a decode pool joined by a
// link; which of them fail and how many there are in the course of time.
//
// Replicas are numbered over all groups, in their order. A replica of `ranks` data-parallel ranks
// is as many equal engines, each with its own batch and KV cache: the router chooses a rank, but
// they come up, fail and drain together. A fleet's index (Outcome::replica) counts ranks:
// index = ranks before the group + (replica in the group) x ranks + rank.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replica/latency/latency_model.h"
#include "replica/replica.h"
#include "routing/replica_signals.h"
#include "routing/router_options.h"
#include "sim/door_options.h"
#include "sim/lifecycle.h"
#include "sim/link.h"

namespace inferscale {

struct GroupOptions {
  std::string name = "replicas";
  ReplicaOptions replica;                 // of a rank; `index` is filled in
  const LatencyModel* latency = nullptr;  // of a rank; outlives the run
  std::int64_t replicas = 1;              // at the start
  std::int64_t ranks = 1;                 // of each replica
  std::int64_t accelerators = 1;          // of each rank
  ReplicaTraits traits;                   // of a rank, for the router
  std::optional<ScalingOptions> scaling;
};

// The first group prefills, the second one decodes.
struct SplitOptions {
  LinkOptions link;
  RouterOptions decode_router;
  double kv_bytes_per_token = 0;  // that the link has to move
};

struct FailureOptions {
  enum class Then : std::uint8_t {
    kRetry,  // the requests of the failed replica go to the router again at that instant
    kLose,   // they end as lost
  };
  std::vector<PlannedFailure> planned;
  std::optional<RandomFailures> random;
  Then then = Then::kRetry;
  std::int64_t max_retries = 10;  // a request that fails more often is lost

  bool any() const { return !planned.empty() || random.has_value(); }
};

struct FleetOptions {
  std::vector<GroupOptions> groups;
  RouterOptions router;
  std::optional<SplitOptions> split;
  FailureOptions failures;
  std::optional<DoorOptions> door;  // not set: everybody is admitted, and nobody decides
  std::uint64_t seed = 0;           // of routers and failures
  bool has_slo_classes = false;     // the class of each request is noted
};

// Makes the engines of a fleet; tests put in their own.
using ReplicaFactory = std::unique_ptr<Replica> (*)(const ReplicaOptions& options,
                                                    const ReplicaSurroundings& surroundings);

}  // namespace inferscale
