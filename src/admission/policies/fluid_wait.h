// Requests of a class are gathered until there are enough of them for an iteration, then let in
// together: inspired by Fluid-WAIT (Ao, Luo, Simchi-Levi, Wang, arXiv 2504.11320).
//
// Classes are made by prompt and by predicted output length. Each class has a threshold n_j from
// the balance of the fluid model (fluid_balance.h), with the rates and mean lengths of the last
// window and the service estimate's gamma for d0:
//
//   defer (batch_forming)  while fewer than n_j are held, this one included
//   admit, all of them     once there are n_j, or one has been held max_hold_s, or could not be in
//                          time any more
//
// Times the number of replicas, over which the group is spread. A class whose threshold is 1 passes
// at once. Where nobody is held at the door (no hold, or a full one) nothing is gathered.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "admission/registry.h"

namespace inferscale {

struct FluidWaitOptions {
  std::vector<double> prompt_edges = {512, 2048};  // class i: below edge i, from edge i - 1
  std::vector<double> output_edges = {128, 512};
  double max_hold_s = 0.5;
  double window_s = 30;
  double interval_s = 1;   // from one reckoning of the thresholds to the next
  std::int64_t most = 64;  // in a group, a replica
  // d1, of the paper's iteration time; not set: the work is the service estimate's.
  std::optional<double> step_ns_per_kv_token;
};

const PolicyCard& fluid_wait_card();
PolicyFactory read_fluid_wait(ConfigReader& parameters);

}  // namespace inferscale
