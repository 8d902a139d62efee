// Runs a scenario through one of the real replicas, as the simulator would, and keeps everything.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "property/scenario.h"

namespace inferscale {

enum class ReplicaKind : std::uint8_t { kSegments, kStepwise };

struct ReplicaRun {
  std::vector<Outcome> outcomes;
  std::vector<ReplicaLoad> loads;  // at each of the instants asked for
  std::vector<Instant> wakes;      // stepwise: every step boundary
  ReplicaUsage usage;
  std::unique_ptr<DurationHistogram> gaps;
  Instant end;         // the last wake-up or arrival
  std::string broken;  // the first invariant that was seen broken, or empty
};

// `look_at` are instants in ascending order at which to ask for the load, after everything that
// happened there.
ReplicaRun run_replica(ReplicaKind kind, const Scenario& scenario,
                       const std::vector<Instant>& look_at = {});

}  // namespace inferscale
