// One of the replicas behind a router, and its state as the router is told.

#pragma once

#include "replica/replica.h"
#include "routing/router.h"

namespace inferscale {

struct PoolMember {
  const Replica* replica;
  BlockCount kv_blocks;
  ReplicaTraits traits;
};

// The signals that are needed, out of `load`, which was observed at `at`.
ReplicaSignals signals_of(const PoolMember& member, const ReplicaLoad& load,
                          const NeededSignals& needed, Instant at);

}  // namespace inferscale
