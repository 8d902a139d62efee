#include "sim/simulator.h"

#include "sim/fleet_run.h"

namespace inferscale {

SimulationResult simulate(const SimulatorOptions& options, const LatencyModel& latency,
                          RequestSource& source, const RunControl& control) {
  FleetOptions fleet;
  fleet.groups.push_back({.replica = options.replica, .latency = &latency});
  const RunOptions run{.stepwise = options.stepwise,
                       .verify = options.verify,
                       .signals_interval = options.signals_interval};
  return FleetRun(fleet, run, source, control).run();
}

SimulationResult simulate_fleet(const FleetOptions& fleet, const RunOptions& options,
                                RequestSource& source, const RunControl& control) {
  return FleetRun(fleet, options, source, control).run();
}

}  // namespace inferscale
