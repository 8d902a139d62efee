// The `workload:` part of a configuration: generated requests, or the rows of a trace.
//
// Keys, units, limits and defaults are in workload_options.cc and the *_options.cc beside it, once,
// and printed by `inferscale config reference`; docs/workloads.md explains them.

#pragma once

#include <optional>

#include "base/config_reader.h"
#include "workload/generated_source.h"
#include "workload/programs/session_options.h"
#include "workload/shared_prefix_source.h"
#include "workload/trace.h"

namespace inferscale {

struct WorkloadOptions {
  GeneratedOptions generated;         // counts when there is no trace
  std::optional<TraceOptions> trace;  // its file as it was written; relative to the configuration's
                                      // folder
  std::optional<SharedPrefixOptions> shared_prefix;
  // Agent programs, which begin by generated.arrivals; then nothing else above counts.
  std::optional<SessionOptions> sessions;
};

// Reads and finishes the map. After an error, which the session keeps, the options are of no use.
WorkloadOptions read_workload_options(ConfigReader& workload);

}  // namespace inferscale
