// The door of a deployment: what the configuration says, with what follows from the replicas.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/fleet.h"
#include "sim/run_config.h"

namespace inferscale {

// Who the requests of a workload belong to, as far as they say.
struct CallerFacts {
  bool tenants = false;
  bool sessions = false;
  std::vector<std::string> tenant_names;  // of their numbers; empty: "tenant_0", "tenant_1", ...
};

// Fills in the service model of the first group's replicas, the deadlines, what the simulated
// engines' pages supply, and the fallback policy where none is written. REQUIRES:
// config.admission.door is set; the fleet's groups are.
DoorOptions door_of(const RunConfig& config, const FleetOptions& fleet);

// The number of the tenant of this name; an error when no request is its.
Result<std::uint32_t> tenant_number(const std::string& name, const CallerFacts& callers);

// When it is known whose requests there are: the tenants' limits by key; an error when the policy
// needs what the run does not have, or a tenant is nobody's.
Result<void> finish_door(const AdmissionConfig& config, const CallerFacts& callers,
                         DoorOptions& door);

}  // namespace inferscale
