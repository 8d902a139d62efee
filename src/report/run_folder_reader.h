// Reads a run folder (docs/formats/run_folder.md), strictly: a report is a picture of the whole
// run, so a file that is cut off or damaged is an error with its name and line, never half a page.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/outcome.h"
#include "core/replica_report.h"
#include "core/session_record.h"
#include "core/signal_sample.h"
#include "metrics/session_summary.h"

namespace inferscale {

// The verdict on a request as the folder has it.
enum class SloVerdict : std::uint8_t { kNotJudged, kMet, kMissed };

struct RunFolder {
  std::string name;
  bool complete = true;       // false: the run was interrupted
  std::string manifest_json;  // both on one line, their keys and types checked
  std::string summary_json;
  bool has_outcomes = false;  // false: the run did not keep them
  std::vector<Outcome> outcomes;
  std::vector<SloVerdict> verdicts;  // of each outcome
  std::size_t warmup_excluded = 0;   // of the outcomes, from the first: not part of latencies
  bool has_cached_tokens = false;    // whether outcomes say so; else theirs is 0 and means nothing
  bool has_outcome_replica = false;  // likewise
  std::vector<SignalSample> signals;
  std::vector<ReplicaReport> replicas;  // empty: the folder has no reports of replicas
  Instant end;                          // of the run
  bool has_sessions = false;            // it was a run of agent programs
  ProgramRecords programs;              // without their times alone; calls with outcomes only
  std::vector<SessionStatus> session_status;
};

// Whether a folder says that a run wrote it.
bool is_run_folder(const std::string& folder);

// Folders of an earlier program of the same version lack what came later: nothing is made up.
// Cost: about 8 us and 57 bytes of memory for each request.
Result<RunFolder> read_run_folder(const std::string& folder);

}  // namespace inferscale
