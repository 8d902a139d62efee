// One run of a study, from its request to its record.

#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "study/run_figures.h"
#include "study/run_request.h"
#include "study/scenario.h"

namespace inferscale {

// What is kept of a run: its figures, or why there are none.
struct RunResult {
  RunFigures figures;
  std::string failure;  // in words for people; empty: the run was simulated
  bool simulated() const { return failure.empty(); }
  bool operator==(const RunResult&) const = default;
};

// The record does not depend on who runs it, when, or beside what. Nothing when `stop` was set
// before the run had ended.
std::optional<RunResult> run_once(const Scenario& scenario, const RunRequest& request,
                                  const std::atomic<bool>* stop);

}  // namespace inferscale
