// Whether the decisions of a run are those of a recorded log, byte for byte, told while it runs.
//
// Memory: one line of each. Errors of the file are kept, and returned at the end.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/edge/input_file.h"
#include "base/result.h"
#include "core/decision_record.h"

namespace inferscale {

class DecisionLogComparison final : public DecisionSink {
 public:
  struct Finding {
    std::int64_t recorded = 0;  // decisions of the log
    std::int64_t taken = 0;     // of the run
    // Of the log, from 1: the first that is another one in the run, or not there. Not set: none is.
    std::optional<std::int64_t> first_other_line;

    bool is_begun_alike() const { return !first_other_line.has_value(); }
    bool is_identical() const { return is_begun_alike() && taken == recorded; }
  };

  // `recorded`: decisions that the log is known to have; a line that is cut off behind them is not
  // looked at.
  static Result<DecisionLogComparison> open(const std::string& path, std::int64_t recorded);
  void on_decision(const DecisionRecord& record) override;
  // REQUIRES: called once, at the end.
  Result<Finding> finish();

 private:
  DecisionLogComparison(LineReader lines, std::int64_t recorded)
      : lines_(std::move(lines)), finding_{.recorded = recorded} {}

  LineReader lines_;
  Finding finding_;
  std::string recorded_line_;
  std::string line_;
  std::optional<Error> error_;
};

}  // namespace inferscale
