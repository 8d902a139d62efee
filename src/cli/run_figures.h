// From a finished simulation to what summaries and tables are made of.

#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "cli/run_loading.h"
#include "metrics/run_summary.h"
#include "report/text/summary_text.h"
#include "sim/simulator.h"

namespace inferscale {

// Rows of replicas are reported for fleets; the figures of one replica that is always up are the
// run's.
std::span<const ReplicaReport> reported_replicas(const LoadedRun& run,
                                                 const SimulationResult& result);

RunFacts facts_of(const LoadedRun& run, const SimulationResult& result);
SummaryContext context_of(const LoadedRun& run, const SimulationResult& result,
                          const RunSummary& summary);

// The summary with what only the simulator knows: failures, the door, transfers between pools.
JsonValue summary_json_of(const LoadedRun& run, const SimulationResult& result,
                          const RunSummary& summary);
// The same in lines for people; empty for a run of one replica.
std::string fleet_events_text(const LoadedRun& run, const SimulationResult& result);

// What a reader must know beside the figures, in sentences.
std::vector<std::string> result_notes(const SimulationResult& result, const RunSummary& summary);

}  // namespace inferscale
