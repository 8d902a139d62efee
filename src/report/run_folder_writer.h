// Writes a run folder: manifest, summary, outcomes, attempts, decisions, signals, replicas,
// sessions and calls (docs/formats/run_folder.md).

#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "core/run_record.h"
#include "report/decision_log.h"
#include "report/jsonl_lines.h"

namespace inferscale {

// Whether a run may be written to the folder: not where files of these names stand that no run
// wrote. A folder that does not exist is fine.
Result<void> check_run_folder(const std::string& folder);

// Makes the folder when it is not there and replaces what an earlier run left in it, its report
// page included; refuses what check_run_folder() refuses. The manifest is removed first and
// written last: a folder with a manifest is whole. Processes that write to one folder take turns;
// a run that can't be written whole leaves none of its files.
//
// `decisions` is the log of the run, written to decisions_path(folder) while it ran; it is finished
// here, and only so becomes part of the folder. Null: the run has none.
Result<void> write_run_folder(const std::string& folder, const RunRecord& record,
                              DecisionLog* decisions = nullptr);
std::string decisions_path(const std::string& folder);

// The files alone. Cost: under a microsecond a line, memory for one buffer.
Result<void> write_outcomes(const std::string& path, std::span<const Outcome> outcomes,
                            const Slo& slo, const CarriedColumns& carried,
                            const OutcomeColumns& columns = {});
// REQUIRES: `clients` has a request for each attempt.
Result<void> write_attempts(const std::string& path, std::span<const Outcome> attempts,
                            const ClientRecords& clients);
Result<void> write_signals(const std::string& path, std::span<const SignalSample> signals);
Result<void> write_replicas(const std::string& path, std::span<const ReplicaReport> replicas);

}  // namespace inferscale
