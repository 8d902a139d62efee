// The keys of `deployment` that say how many replicas there are, of which kinds, and what happens
// to them: `replicas`, `groups`, `disaggregation`, `scaling`, failures. What a replica is
// (hardware, parallel, precision, engine, latency) is read once for the deployment and once more
// for each group, which inherits the deployment's values key by key.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/config_reader.h"
#include "catalog/deployment_shape.h"
#include "catalog/hardware_spec.h"
#include "catalog/model_spec.h"
#include "replica/engine_options.h"
#include "replica/latency/latency_options.h"
#include "sim/fleet.h"

namespace inferscale {

// What a replica is.
struct DeploymentConfig {
  ModelSpec model;
  HardwareSpec hardware;
  DeploymentShape shape;
  EngineOptions engine;
  LatencyOptions latency;
  std::optional<double> price_per_accelerator_hour;  // in whatever currency
};

struct GroupConfig {
  std::string name;
  std::int64_t replicas = 1;
  double weight = 1;  // for the router
  DeploymentConfig deployment;
  std::optional<ScalingOptions> scaling;
};

struct SplitConfig {
  LinkOptions link;
  RouterOptions decode_router;
};

struct FleetConfig {
  std::vector<GroupConfig> groups;  // at least one; with a split: prefill, decode
  RouterOptions router;
  std::optional<SplitConfig> split;
  FailureOptions failures;
};

// hardware, parallel, precision, engine, latency, price_per_accelerator_hour.
DeploymentConfig read_replica(ConfigReader& deployment, const ModelSpec& model);
// All the other keys but `model`. `base` is what read_replica() made of the same map.
FleetConfig read_fleet(ConfigReader& deployment, const DeploymentConfig& base);

}  // namespace inferscale
