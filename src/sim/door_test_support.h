// Doors for tests of the simulator: a shipped policy in front of a small fleet.

#pragma once

#include <string>

#include "admission/policy_test_support.h"
#include "sim/door_options.h"
#include "sim/fleet_test_support.h"

namespace inferscale {

inline DoorOptions door_with(const std::string& policy, const WrittenParameters& parameters = {}) {
  DoorOptions door;
  GateOptions& gate = door.gate;
  gate.policy_name = policy;
  gate.policy = *read_policy_for_test(policy, parameters);
  gate.fallback_name = "fixed_concurrency";
  gate.fallback = *read_policy_for_test("fixed_concurrency", {{"limit", "4"}});
  gate.service = {.step_ns = 1e6,
                  .chunk_tokens = 512,
                  .kv_capacity_tokens = 800,
                  .max_num_seqs = 8,
                  .provenance = ServiceProvenance::kCatalogue};
  gate.supply = {.source = "the simulated engine",
                 .service_model = true,
                 .outcomes = true,
                 .workload = "the test"};
  for (const SignalSpec& spec : all_signals()) gate.supply.signals.add(spec.signal);
  gate.supply.request = {.tenant = true,
                         .session = true,
                         .deadline = true,
                         .itl_target = true,
                         .predicted_output = true,
                         .true_output = true};
  door.scrape_interval = micros(5000);
  door.reads_pages = true;
  door.ttft = micros(20'000);
  door.itl = micros(3000);
  return door;
}

}  // namespace inferscale
