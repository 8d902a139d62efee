// What a set of random scenarios got to: they are worth something only if they reach the hard
// places.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "property/replica_runs.h"
#include "property/scenario.h"

namespace inferscale {

class Coverage {
 public:
  // Runs the scenario again where it takes a comparison to tell.
  void count(Scenario& scenario, const ReplicaRun& jumps, const ReplicaRun& steps);
  // How often each thing happened.
  const std::map<std::string, std::int64_t>& all() const { return seen_; }
  // Fails the running test where something happened too seldom for so many scenarios.
  void expect_enough(std::int64_t scenarios) const;

 private:
  void count_requests(const Scenario& scenario, const ReplicaRun& steps);
  void count_abandoned(const Scenario& scenario, const Report& report);
  void count_shapes(const Scenario& scenario, const ReplicaRun& jumps);
  void count_evictions(Scenario& scenario, const ReplicaRun& steps);

  std::map<std::string, std::int64_t> seen_;
};

}  // namespace inferscale
