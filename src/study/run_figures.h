// The figures of one run in a fixed order: small, and quick to keep, compare and send.

#pragma once

#include <array>
#include <optional>

#include "study/metric.h"
#include "study/prepared_run.h"
#include "study/simulated_run.h"

namespace inferscale {

class RunFigures {
 public:
  // Nothing where the run has no such figure.
  std::optional<double> operator[](Metric metric) const {
    return values_[static_cast<std::size_t>(metric)];
  }
  void set(Metric metric, std::optional<double> value) {
    values_[static_cast<std::size_t>(metric)] = value;
  }
  bool operator==(const RunFigures&) const = default;

 private:
  std::array<std::optional<double>, kMetricCount> values_;
};

// REQUIRES: `result` is of `run`.
RunFigures figures_of(const PreparedRun& run, const SimulationResult& result);
// Adds what became of attempts at the door, where the run has one. REQUIRES: as above.
void set_door_figures(const PreparedRun& run, const SimulatedRun& simulated, RunFigures& figures);

}  // namespace inferscale
