// How much a deployment carries: the highest load at which every repetition meets the SLO and
// drains, or the smallest fleet that carries one load.
//
// The search begins at the configured load, doubles or halves it until one load is carried and
// another is not, and then halves the ratio between the two until it is within the tolerance. All
// loads have the same seeds: they see the same requests, only closer together. Afterwards the
// recommended load and some others below the capacity are tried as well, since bisection finds a
// boundary and takes for granted that everything below it is carried. A recommended load that fails
// is not recommended.
//
// A load of which a long warm-up leaves nothing to judge is neither carried nor too much. The
// search ends there and says so, since either guess would move the boundary.
//
// Larger fleets are no easier for certain: a router may scatter sessions over more prefix caches.
// When none is carried and the largest was not the best, sizes below and around the best one are
// tried before the search gives up.
//
// Cost: about log2(capacity / configured load) + log2(1 / tolerance) + scan loads, each of
// `repeats` runs, which are one batch.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/slo_class.h"
#include "study/capacity/capacity_axis.h"
#include "study/capacity/capacity_probe.h"
#include "study/run_executor.h"

namespace inferscale {

constexpr std::int64_t kCapacityRepeats = 5;  // where the configuration does not say

enum class CapacityVerdict : std::uint8_t {
  kFound,
  kNeverFailed,  // every load up to the highest one tried is carried
  kNeverPassed,  // no load down to the lowest one tried is
  kNotJudged,    // the search met a load of which nothing counts, and ended there
};

struct CapacityResult {
  // What was asked.
  std::string label;  // of the scenario
  CapacityOptions options;
  Slo slo;  // of all requests; or of each that of its class:
  std::vector<SloClass> slo_classes;
  std::int64_t repetitions = 0;
  std::uint64_t seed = 0;
  std::string unit;  // of loads
  bool falls = false;
  bool keeps_window = false;
  std::optional<double> fixed_load;  // of a search for replicas
  std::string fixed_load_unit;
  std::vector<std::string> workload_changes;  // how the loads differ from the trace's file

  CapacityVerdict verdict = CapacityVerdict::kFound;
  bool within_tolerance = false;      // false: max_probes ended the search
  std::optional<double> carried;      // the hardest load that is carried; when found, the capacity
  std::optional<double> not_carried;  // the easiest load above it that is not
  std::optional<double> recommended;  // when found, and not seen to fail
  // When nothing is carried: the load whose worst attainment is highest, the easiest of equals.
  std::optional<double> best_tried;
  // The load that ended the search: the warm-up left no request of some repetition to judge.
  std::optional<double> not_judged;
  // Loads easier than `carried` that failed: the boundary is not the only one.
  std::vector<double> easier_failed;
  bool repetitions_alike = false;  // nothing in the runs is drawn: they show no spread

  std::vector<CapacityProbe> probes;  // by load, each load once

  const CapacityProbe* probe_of(std::optional<double> load) const;
};

// `index` is the scenario's place among the executor's.
Result<CapacityResult> find_capacity(const Scenario& scenario, std::size_t index,
                                     RunExecutor& executor);

}  // namespace inferscale
