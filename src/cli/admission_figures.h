// What a finished run says about admission, for its summary and its terminal.

#pragma once

#include <optional>
#include <string>

#include "base/json_writer.h"
#include "metrics/admission_summary.h"
#include "metrics/run_summary.h"
#include "study/simulated_run.h"

namespace inferscale {

// Nothing for a run without a door whose clients never come again.
std::optional<AdmissionSummary> admission_summary_of(const PreparedRun& run,
                                                     const SimulatedRun& simulated,
                                                     const RunSummary& summary);
JsonValue admission_json_of(const PreparedRun& run, const AdmissionSummary& admission);

// What the head of `decisions.jsonl` says beside the policy: enough for a replay.
JsonValue decision_log_facts_of(const PreparedRun& run);

}  // namespace inferscale
