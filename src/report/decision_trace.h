// The decision trace of a run: a line of JSON for each step (or segment of decode steps) and for
// each choice of a replica, in the order in which they ended or were made.
// docs/formats/decisions.md describes the lines.
//
// Writes as the run goes, so it needs no memory and an interrupted run leaves what it had. The
// first error of the file is kept and nothing is written after it; finish() returns it.

#pragma once

#include <optional>
#include <string>

#include "base/edge/output_file.h"
#include "core/decision_observer.h"

namespace inferscale {

class DecisionTrace final : public DecisionObserver {
 public:
  explicit DecisionTrace(OutputFile file) : file_(std::move(file)) {}
  void on_step(const StepReport& report) override;
  void on_route(const RouteReport& report) override;
  // REQUIRES: called once, at the end.
  Result<void> finish();

 private:
  void write(std::string line);

  OutputFile file_;
  std::optional<Error> error_;
};

}  // namespace inferscale
