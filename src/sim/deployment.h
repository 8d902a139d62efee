// What follows from a deployment's configuration: KV caches, limits, step times, the fleet.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/kv_capacity.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"
#include "sim/fleet.h"
#include "sim/run_config.h"

namespace inferscale {

// A kind of replica.
struct Deployment {
  ReplicaOptions replica;  // of one rank
  std::unique_ptr<LatencyModel> latency;
  // How a KV cache follows from memory, whatever size the configuration gives; not set where the
  // model does not fit (the configuration then gives the size, or there is no deployment).
  std::optional<KvCapacity> memory;
  double kv_bytes_per_token = 0;  // over all accelerators of a rank
  std::int64_t accelerators = 1;  // of a replica, all its ranks
  std::int64_t ranks = 1;
};

// An error when the model does not fit in the accelerators' memory.
Result<Deployment> derive_deployment(const DeploymentConfig& config, const Slo& slo,
                                     std::span<const SloClass> classes = {});

struct FleetDeployment {
  // By group, as in the configuration; at least one.
  std::vector<Deployment> kinds;
  // Refers to the latency models in `kinds`. Does not change when this is moved.
  FleetOptions fleet;
  // What was changed or can't be as configured, in sentences for people.
  std::vector<std::string> warnings;

  std::int64_t accelerators() const;  // of all replicas, at the start
  bool caches_prefixes() const;       // some kind of replica does
};

Result<FleetDeployment> derive_fleet(const RunConfig& config);

}  // namespace inferscale
