// What follows from a deployment's configuration: its KV cache, its limits, its step times.

#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "catalog/kv_capacity.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"
#include "sim/run_config.h"

namespace inferscale {

struct Deployment {
  ReplicaOptions replica;
  std::unique_ptr<LatencyModel> latency;
  // How a KV cache follows from memory, whatever size the configuration gives; not set where the
  // model does not fit (the configuration then gives the size, or there is no deployment).
  std::optional<KvCapacity> memory;
  double kv_bytes_per_token = 0;  // over all accelerators of the replica
  std::int64_t accelerators = 1;
};

// An error when the model does not fit in the accelerators' memory.
Result<Deployment> derive_deployment(const DeploymentConfig& config, const Slo& slo);

}  // namespace inferscale
