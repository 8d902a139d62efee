// The configuration of one simulated run: every key of the schema, read in one place.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/config_reader.h"
#include "catalog/model_spec.h"
#include "core/measurement.h"
#include "core/slo.h"
#include "core/slo_class.h"
#include "core/slo_options.h"
#include "sim/admission_config.h"
#include "sim/fleet_config.h"
#include "workload/clients/client_options.h"
#include "workload/workload_options.h"

namespace inferscale {

struct OutputOptions {
  bool outcomes = true;
  std::optional<Duration> signals_interval;
};

struct RunConfig {
  std::string name;
  std::uint64_t seed = 0;
  DeploymentConfig deployment;  // what groups inherit from
  FleetConfig fleet;
  WorkloadOptions workload;
  Slo slo;  // of all requests; without targets where there are classes
  std::vector<SloClass> slo_classes;
  MeasurementOptions measurement;
  OutputOptions output;
  ClientOptions clients;
  AdmissionConfig admission;
  std::vector<std::string> warnings;  // of keys that come to nothing

  bool has_targets() const { return RequestClasses{.classes = slo_classes}.any(slo); }
};

// Finds a model by its catalogue name or the path of its config.json. Reading files is the
// caller's.
using ModelResolver = std::function<Result<ModelSpec>(const std::string& name)>;

// Errors are left in the session of `root`. The caller reads what else stands there, and finishes
// it.
RunConfig read_run_config(ConfigReader& root, const ModelResolver& resolve_model);

}  // namespace inferscale
