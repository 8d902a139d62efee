// The loads at which candidates are tried: multiples of what the deployment carries without a
// policy.
//
//   generated requests   the whole arrival process is scaled, as by `inferscale capacity`
//   a trace              workload.trace.rate_scale
//   agent sessions       workload.arrivals.rate_rps; their capacity has to be given
//
// A given capacity stands in requests/s (sessions/s), for a trace too: a trace at rate_scale 1 has
// its own mean rate, (rows - 1) / (last arrival - first).

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "study/capacity/capacity_axis.h"
#include "study/run_executor.h"

namespace inferscale {

struct TuneLoad {
  double factor = 1;
  double load = 1;  // on the axis of loads
  std::vector<Setting> settings;
};

struct TuneLoads {
  double capacity = 0;  // the load of factor 1
  bool measured = false;
  std::string unit;  // of loads: "requests/s", "times the trace's rate"
  std::vector<TuneLoad> loads;
};

// What is wrong with the workload or the capacity, before anything is run. `bare`: the scenario
// without a policy.
Result<void> check_tune_loads(const Scenario& bare);

// REQUIRES: check_tune_loads() found nothing. `index`: of `bare` among the executor's scenarios.
// Errors are the executor's, and a capacity that was not found.
Result<TuneLoads> tune_loads(const Scenario& bare, std::size_t index, RunExecutor& executor);

}  // namespace inferscale
