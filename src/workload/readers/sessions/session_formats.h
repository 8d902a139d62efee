// One function for each format of recorded sessions: from the line after the first to the end.
//
// Each gets the file's first line and the reader that stands behind it. docs/formats/
// session_traces.md says what is made of each column and key.

#pragma once

#include <string>

#include "base/edge/input_file.h"
#include "base/result.h"
#include "workload/readers/sessions/recorded_sessions.h"

namespace inferscale {

Result<void> read_claude_code_csv_sessions(std::string header, LineReader& lines,
                                           RecordedTrace& trace);
Result<void> read_claude_code_jsonl_sessions(std::string first_line, LineReader& lines,
                                             RecordedTrace& trace);
Result<void> read_session_calls_jsonl(std::string first_line, LineReader& lines,
                                      RecordedTrace& trace);
Result<void> read_tracelab_jsonl(std::string first_line, LineReader& lines, RecordedTrace& trace);
// This one is put together from a trace of calls, which is read from the beginning.
Result<void> read_mooncake_sessions(const std::string& path, RecordedTrace& trace);

}  // namespace inferscale
