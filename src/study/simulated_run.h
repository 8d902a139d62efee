// A prepared run, simulated: what became of requests, with the attempts that they made beside.

#pragma once

#include <optional>
#include <vector>

#include "metrics/admission_decisions.h"
#include "metrics/admission_summary.h"
#include "sim/simulator.h"
#include "study/prepared_run.h"

namespace inferscale {

struct SimulatedRun {
  // Outcomes are of requests. Of agent programs they are of attempts, which the records of calls
  // refer to.
  SimulationResult result;
  std::vector<Outcome> attempts;           // where clients may come again; else empty
  std::optional<DecisionTally> decisions;  // where somebody decides, and it was asked for
};

// How a run is watched at its door.
struct DoorWatch {
  bool tallies = false;         // decisions are added up
  DecisionSink* log = nullptr;  // told of each
};

SimulatedRun simulate_run(const PreparedRun& run, const RunOptions& options, const DoorWatch& watch,
                          const RunControl& control);

// Whether there is something to say about admission: a door, or clients that come again.
bool has_admission(const PreparedRun& run);
// `measured_from`: the end of the warm-up, as the run's summary has it. `tenant_of`: of each
// request; empty: they have none.
AdmissionSummary admission_of(const PreparedRun& run, const SimulatedRun& simulated,
                              Instant measured_from, std::span<const std::uint32_t> tenant_of);

}  // namespace inferscale
