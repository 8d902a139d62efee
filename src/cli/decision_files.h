// The decision traces that a command was asked for: `--decisions` and `--chrome-trace`.

#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "core/decision_observer.h"
#include "core/outcome.h"
#include "report/chrome_trace.h"
#include "report/decision_trace.h"

namespace inferscale {

class DecisionFiles final : public DecisionObserver {
 public:
  // An empty path: that file was not asked for. Files that no trace wrote are not replaced, and
  // nothing is written where the run folder `out` has a file of its own.
  static Result<std::unique_ptr<DecisionFiles>> open(const std::string& decisions,
                                                     const std::string& chrome_trace,
                                                     const std::string& out);
  bool any() const { return lines_ != nullptr || chrome_ != nullptr; }
  void on_step(const StepReport& report) override;
  void on_route(const RouteReport& report) override;
  // REQUIRES: called once, at the end of the run.
  Result<void> finish(std::span<const Outcome> outcomes);

 private:
  std::unique_ptr<DecisionTrace> lines_;
  std::unique_ptr<ChromeTrace> chrome_;
};

}  // namespace inferscale
