// The run that a decision log is of, from the manifest beside it; and the same with another policy.

#pragma once

#include <string>
#include <vector>

#include "base/config_node.h"
#include "base/result.h"
#include "cli/run_loading.h"
#include "study/prepared_run.h"

namespace inferscale {

// As manifest.json has it.
struct RecordedRun {
  std::string manifest;     // path
  ConfigNode config;        // with every default filled in
  std::string policy;       // at its door
  bool complete = true;     // false: the run was interrupted
  std::string trace_crc32;  // empty: no trace, or nobody noted it
};

Result<RecordedRun> read_recorded_run(const std::string& log);

// What decides in the place of the recorded policy.
struct PolicyChange {
  std::string policy;                   // empty: the recorded one
  std::vector<std::string> parameters;  // "key=value": in a named policy's defaults, or else in the
                                        // recorded parameters
  bool any() const { return !policy.empty() || !parameters.empty(); }
};
Result<ConfigNode> with_policy(const RecordedRun& recorded, const PolicyChange& change);

// An error when the trace is not the recorded one.
Result<PreparedRun> prepare_recorded(const RecordedRun& recorded, ConfigNode config,
                                     const RunInputs& inputs);

}  // namespace inferscale
