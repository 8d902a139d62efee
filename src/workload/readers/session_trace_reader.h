// Reads files of recorded agent sessions into Programs: which calls a session makes, of which
// lengths, what they share, and how long tools and people take between them. How long the recorded
// answers took is not replayed: that is what a simulation is for.
//
// docs/formats/session_traces.md has the formats and what is made of each column.

#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "workload/programs/programs.h"
#include "workload/programs/session_options.h"

namespace inferscale {

// By a file's first line; nothing when it is of no format that has sessions.
std::optional<SessionTraceFormat> session_trace_format_of(std::string first_line);

// The format that `options` name, or that of the file's first line. Errors as below.
Result<SessionTraceFormat> find_session_trace_format(const SessionTraceOptions& options,
                                                     const std::string& path);

// All sessions begin at instant 0. Errors name file, line, column, value and what was expected.
Result<Programs> read_session_trace(const SessionTraceOptions& options, const std::string& path);

}  // namespace inferscale
