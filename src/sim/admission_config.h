// The parts `admission`, `signals`, `predictor` and `tenants` of a configuration: who is let in,
// and what the gate knows.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admission/gate_options.h"
#include "base/config_reader.h"
#include "base/result.h"
#include "core/slo.h"
#include "sim/door_options.h"

namespace inferscale {

// What is said of a tenant. Whose key the name is is known when the workload is.
struct TenantConfig {
  std::string name;
  TenantLimits limits;
  double weight = 1;  // its part of what is served, beside the others'; for fairness
  std::optional<std::string> class_name;  // of all its requests; else they draw theirs
  std::optional<std::uint8_t> slo_class;  // found by it
};

struct AdmissionConfig {
  // Not set: the policy is `none` and nobody is held or limited, so there is no door at all.
  std::optional<DoorOptions> door;
  std::string policy = "none";
  std::vector<TenantConfig> tenants;
  bool has_own_fallback = false;  // else it is made of the deployment
  bool predicts = true;
};

AdmissionConfig read_admission(ConfigReader& root);

}  // namespace inferscale
