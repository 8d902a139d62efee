// One function for each trace format: from the line after the header to the trace's end.
//
// Each gets the file's first line and the reader that stands behind it, and fills the builder. The
// formats' columns are described in docs/workloads.md.

#pragma once

#include <string>

#include "base/edge/input_file.h"
#include "base/result.h"
#include "workload/readers/session_clock.h"
#include "workload/readers/trace_builder.h"

namespace inferscale {

Result<void> read_inferscale_csv(std::string header, LineReader& lines, TraceBuilder& builder);
Result<void> read_azure_csv(std::string header, LineReader& lines, TraceBuilder& builder);
Result<void> read_burstgpt_csv(std::string header, LineReader& lines, TraceBuilder& builder);
Result<void> read_mooncake_jsonl(std::string first_line, LineReader& lines, TraceBuilder& builder);
// Those whose times count from each session's beginning also get the clock that says when it was.
Result<void> read_claude_code_csv(std::string header, LineReader& lines, TraceBuilder& builder,
                                  SessionClock& clock);
Result<void> read_claude_code_jsonl(std::string first_line, LineReader& lines,
                                    TraceBuilder& builder, SessionClock& clock);

}  // namespace inferscale
