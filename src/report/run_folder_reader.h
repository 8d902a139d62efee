// Reads a run folder (docs/formats/run_folder.md), strictly: a report is a picture of the whole
// run, so a file that is cut off or damaged is an error with its name and line, never half a page.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/outcome.h"
#include "core/signal_sample.h"

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
  std::vector<SignalSample> signals;
};

// Cost: about 8 us and 57 bytes of memory for each request.
Result<RunFolder> read_run_folder(const std::string& folder);

}  // namespace inferscale
