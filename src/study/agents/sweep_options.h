// `study.agents`: the points of the sweeps over agent sessions (sweep.h), and how close to the best
// is as good.

#pragma once

#include <optional>
#include <vector>

#include "base/config_reader.h"

namespace inferscale {

// Lists are in rising order, each value once.
struct AgentSweepOptions {
  double tolerance = 0.05;  // a p95 turn TTFT within this fraction of the best is as good
  std::vector<std::optional<double>> ttl_s;  // nothing, which comes last: for ever
  std::vector<double> affinity_slack_ms;
  std::vector<double> memory_budgets;  // multiples of the unconstrained peak of a replica
  std::vector<double> host_bandwidth_gb_s;
  std::vector<double> host_capacity_gb;  // empty: as configured
};

AgentSweepOptions read_agent_sweep_options(ConfigReader& study);

}  // namespace inferscale
