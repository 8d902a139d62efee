// Reads the lines of `sessions.jsonl` and `calls.jsonl` back.

#pragma once

#include <string>

#include "base/result.h"
#include "report/run_folder_reader.h"

namespace inferscale {

// Appends to `folder.programs.sessions` and `folder.session_status`. Besides types, it checks that
// sessions count from 0 in order of their beginning, and that each one's status fits its counts.
Result<void> read_sessions(const std::string& path, RunFolder& folder);

// Appends to `folder.programs.calls`. REQUIRES: sessions and outcomes are read. It checks that
// every session has its calls, and that they agree with the outcomes that they refer to.
Result<void> read_calls(const std::string& path, RunFolder& folder);

}  // namespace inferscale
