// `decisions.jsonl`: every decision at the door, written as it is taken
// (docs/formats/decisions.md).
//
// Memory: one buffer, however long the run. The first error of the file is kept, nothing is written
// after it, and finish() returns it: a decision is never held up by the disk. One thread at a time.

#pragma once

#include <optional>
#include <string>

#include "base/edge/output_file.h"
#include "report/decision_log_lines.h"

namespace inferscale {

class DecisionLog final : public DecisionSink {
 public:
  // The file appears under its name when it is finished.
  static Result<DecisionLog> create(const std::string& path, const DecisionLogFacts& facts);
  void on_decision(const DecisionRecord& record) override;
  // REQUIRES: called once, at the end.
  Result<void> finish();
  std::int64_t decisions() const { return decisions_; }

 private:
  explicit DecisionLog(OutputFile file) : file_(std::move(file)) {}
  void write();

  OutputFile file_;
  std::string buffer_;
  std::int64_t decisions_ = 0;
  std::optional<Error> error_;
};

}  // namespace inferscale
