// A design study: what many configurations would do under the same requests, and which of them no
// other one beats.
//
// Each candidate is run with the same seeds; its figures are means over these repetitions. A
// candidate is on the performance frontier when no other one has at least its goodput (requests/s)
// and no greater p95 TTFT, one of the two strictly better. The efficiency frontier is the same with
// goodput per accelerator in place of goodput, the cost frontier with good requests per cost. Each
// is taken over the candidates that have both figures.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "study/explore/design_candidates.h"
#include "study/metric.h"
#include "study/run_executor.h"
#include "study/scenario.h"
#include "study/spread.h"

namespace inferscale {

struct ExploredCandidate {
  Candidate candidate;
  std::string failure;  // why it could not be simulated, in words; empty: it was
  // Of explored_metrics(), in their order; nothing where a repetition has no such figure.
  std::vector<std::optional<Spread>> figures;
  std::int64_t saturated = 0;  // repetitions in which the backlog grew
  std::int64_t undecided = 0;  // repetitions that can't tell
  bool on_performance_frontier = false;
  bool on_efficiency_frontier = false;
  bool on_cost_frontier = false;

  bool simulated() const { return failure.empty(); }
  const std::optional<Spread>& operator[](Metric metric) const;
};

struct ExploreResult {
  std::string name;  // of the configuration
  Slo slo;
  double attainment = 0;  // goodput that the cheapest has to reach in every repetition
  std::int64_t repeats = 0;
  std::uint64_t seed = 0;
  bool bounded_grid = false;
  std::vector<std::string> keys;           // that candidates set
  std::vector<std::string> as_configured;  // their values in the configuration, as JSON
  // Of "workload", "slo" and "measurement" those in which candidates differ: they are then asked
  // for, or judged by, different things.
  std::vector<std::string> unlike;
  std::vector<ExploredCandidate> candidates;
  // Indices of candidates; nothing when there is none of the kind.
  std::optional<std::size_t> most_goodput;
  std::optional<std::size_t> least_ttft;
  std::optional<std::size_t> cheapest;  // of those that reach the attainment
  // What "cheapest" means: the cost where all of those have a price, else the accelerators.
  Metric cheapest_by = Metric::kAccelerators;
  std::vector<std::string> notes;  // sentences
};

// The figures that a candidate is described by.
std::span<const Metric> explored_metrics();

// REQUIRES: `executor` runs scenario 0 for `scenario`, whose checked_candidates() `list` is. Errors
// are the executor's.
Result<ExploreResult> explore(const Scenario& scenario, const CandidateList& list,
                              RunExecutor& executor);

}  // namespace inferscale
