// Reads the lines of `outcomes.jsonl`, `signals.jsonl` and `replicas.jsonl` back.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "report/run_folder_reader.h"

namespace inferscale {

// Appends to `folder.outcomes` and `folder.verdicts`. Besides types, it checks that ids count from
// 0, that arrivals never go back and that each request's timestamps are in order.
Result<void> read_outcomes(const std::string& path, RunFolder& folder);
// Appends to `folder.signals`, whose times never go back.
Result<void> read_signals(const std::string& path, RunFolder& folder);
// Appends to `folder.replicas`, whose indices go up.
Result<void> read_replicas(const std::string& path, RunFolder& folder);

}  // namespace inferscale
