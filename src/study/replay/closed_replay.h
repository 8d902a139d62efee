// The same arrivals with another policy in force: a recorded run, simulated again.
//
// Both runs have one seed and one workload, so request for request (session for session, where
// there are agent sessions) they can be paired: a difference of two shares says less than how many
// met in one run alone. What clients do after a refusal follows from the refusal, as it should.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "metrics/run_summary.h"
#include "study/prepared_run.h"
#include "study/simulated_run.h"

namespace inferscale {

// One of the two runs. Latency, goodput and attainment leave out the warm-up, as everywhere.
struct ReplayedRun {
  std::string policy;
  std::optional<double> goodput;              // of all requests that arrived
  std::optional<double> attainment_admitted;  // of those that were admitted
  PopulationSummary ttft_ms;                  // of requests that finished
  std::int64_t requests = 0;
  std::int64_t finished = 0;
  std::int64_t attempts = 0;
  // Of attempts, as answered; all admitted without a door.
  std::int64_t admitted = 0;
  std::int64_t deferred = 0;
  std::int64_t rejected = 0;
  std::int64_t shadow_refusals = 0;
};

// The same requests in both runs, those of the warm-up too.
struct PairedOutcomes {
  bool of_sessions = false;  // sessions that were completed; else requests
  bool has_slo = false;      // of requests: whether they met the SLO; else whether they finished
  std::int64_t both = 0;
  std::int64_t recorded_only = 0;
  std::int64_t replayed_only = 0;
  std::int64_t neither = 0;
};

// REQUIRES: `simulated` is of this run, and was not interrupted.
ReplayedRun replayed_run_of(const PreparedRun& run, const SimulatedRun& simulated);

// REQUIRES: both are of the same arrivals.
PairedOutcomes pair_outcomes(const SimulatedRun& recorded, const SimulatedRun& replayed,
                             const PreparedRun& run);

// Replicas behind one gate of the run's door.
std::uint32_t replicas_behind_gate(const PreparedRun& run);

}  // namespace inferscale
