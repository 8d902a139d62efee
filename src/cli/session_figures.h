// From a finished run of agent sessions to its figures, as JSON and as text.

#pragma once

#include <string>

#include "base/json_writer.h"
#include "metrics/run_summary.h"
#include "sim/simulator.h"
#include "study/prepared_run.h"

namespace inferscale {

// REQUIRES: result.programs, for both.
JsonValue sessions_json_of(const PreparedRun& run, const SimulationResult& result);
std::string session_text_of(const PreparedRun& run, const SimulationResult& result,
                            const RunSummary& summary);

}  // namespace inferscale
