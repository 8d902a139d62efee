// From a finished simulation to what summaries and tables are made of.

#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "metrics/run_summary.h"
#include "report/text/summary_text.h"
#include "sim/simulator.h"
#include "study/prepared_run.h"

namespace inferscale {

SummaryContext context_of(const PreparedRun& run, const SimulationResult& result,
                          const RunSummary& summary);

// The summary with what only the simulator knows: failures, the door, transfers between pools.
JsonValue summary_json_of(const PreparedRun& run, const SimulationResult& result,
                          const RunSummary& summary);
// The same in lines for people; empty for a run of one replica.
std::string fleet_events_text(const PreparedRun& run, const SimulationResult& result);

// What a reader must know beside the figures, in sentences.
std::vector<std::string> result_notes(const PreparedRun& run, const SimulationResult& result,
                                      const RunSummary& summary);

}  // namespace inferscale
