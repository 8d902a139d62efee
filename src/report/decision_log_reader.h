// Reads `decisions.jsonl` back: the very records that were written (docs/formats/decisions.md).
//
// Strict: a line that is damaged, out of order or has a name that is not known is an error with its
// file, line and key; so is a version that is not known. Only a last line without its end, which a
// writer that was killed leaves behind, is left out, and said.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/decision_record.h"

namespace inferscale {

struct DecisionLogHead {
  bool simulated = false;
  std::string policy;
  std::string json;  // the whole first line
};

struct DecisionLogContents {
  DecisionLogHead head;
  std::vector<DecisionRecord> decisions;
  std::string note;  // a sentence when the last line was left out; else empty
};

Result<DecisionLogContents> read_decisions(const std::string& path);

// The same one by one, in constant memory: `decisions` stays empty.
Result<DecisionLogContents> read_decisions(const std::string& path,
                                           const std::function<void(const DecisionRecord&)>& read);

}  // namespace inferscale
