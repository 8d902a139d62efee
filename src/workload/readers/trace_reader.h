// Reads a trace file of any known format, plain or gzip.
//
// The format is found by the file's first line, or named. Every row is taken or counted; anything
// malformed is one error with file and line (docs/workloads.md lists the rules).

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "workload/trace.h"

namespace inferscale {

// A file name that isn't absolute counts from `base_folder` (empty: the current one). `run_seed`
// matters for what is drawn: trace.jitter (stream "trace_jitter"), trace.session_arrivals (stream
// "session_arrivals").
Result<Trace> read_trace(const TraceOptions& options, const std::string& base_folder,
                         std::uint64_t run_seed);

}  // namespace inferscale
