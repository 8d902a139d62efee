// The keys that change a fleet in the course of a run: `scaling`, `failures`, `failure_rate`,
// `on_failure`, `max_retries`.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/config_reader.h"
#include "sim/fleet.h"

namespace inferscale {

// The map `scaling` of a deployment or a group.
std::optional<ScalingOptions> read_scaling(ConfigReader& reader);

// A group as failures name its replicas.
struct NamedGroup {
  std::string name;
  std::int64_t most = 1;  // replicas that there may ever be
};
FailureOptions read_failures(ConfigReader& deployment, std::span<const NamedGroup> groups);

}  // namespace inferscale
