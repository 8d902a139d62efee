// A run of a study and its record as a line of runs.jsonl (docs/formats/study_folder.md).
//
// What is read back is what was written, to the last bit of every figure.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "study/executors/run_key.h"
#include "study/run_once.h"

namespace inferscale {

struct KeptRun {
  RunKey key;
  RunResult record;
};

// A record as it comes back from disk: figures that JSON has not (-0, infinity, NaN) become 0 and
// absent, bytes that are not UTF-8 U+FFFD. Executors give out only such records, so that a study
// can't tell a run of today from one of yesterday.
RunResult settled(RunResult record);

// The line, with its end. REQUIRES: the record is settled.
std::string run_line(const RunKey& key, const RunResult& record);

// `line` is without its end. Errors say `path`, the line's number and the key.
Result<KeptRun> parse_run_line(const std::string& line, const std::string& path,
                               std::int64_t number);

}  // namespace inferscale
