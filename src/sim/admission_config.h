// The parts `admission`, `signals`, `predictor` and `tenants` of a configuration: who is let in,
// and what the gate knows.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/gate_options.h"
#include "base/config_reader.h"
#include "base/result.h"
#include "core/slo.h"
#include "sim/door_options.h"

namespace inferscale {

struct AdmissionConfig {
  // Not set: the policy is `none` and nobody is held or limited, so there is no door at all.
  std::optional<DoorOptions> door;
  std::string policy = "none";
  // By the names of tenants; whose keys they are is known when the workload is.
  std::vector<std::pair<std::string, TenantLimits>> tenants;
  bool has_own_fallback = false;  // else it is made of the deployment
  bool predicts = true;
};

AdmissionConfig read_admission(ConfigReader& root);

}  // namespace inferscale
