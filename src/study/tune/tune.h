// Which parameters of an admission policy serve best when the load is not known beforehand?
//
// A candidate is tried at several loads, multiples of the capacity, on the same seeds as all others
// (common random numbers: they see the same requests). It counts for
//
//   worst case = min over the loads of the mean over the seeds of goodput
//
// goodput being requests that met the SLO / requests that arrived (of agent sessions: turns of all
// sessions that began). How candidates are chosen, tune_search.h says.
//
// The best of many tries looks better than it is: some of its lead is luck of its seeds. So it is
// run again on fresh seeds, together with the controls, and only those figures are compared:
//
//   none                nobody is kept out
//   fixed_concurrency   a constant limit, searched with as many tries on the same seeds
//   equal_volume_shed   as many attempts rejected at random, at each load, as the policy turned
//                       away there: what is gained over it is due to whom the policy refused
//
// A difference of worst cases is the mean over the seeds of the policy's goodput at its own worst
// load less the control's at its worst. It is decided when the expanded bootstrap interval
// (metrics/bootstrap.h) of this mean does not hold 0. Which load is the worst is taken as known:
// where two are nearly as bad the interval is a little too narrow.
//
// Cost: (2 candidates x repeats + 4 fresh_repeats) x loads runs, and those of the capacity.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/bootstrap.h"
#include "study/metric.h"
#include "study/run_executor.h"
#include "study/spread.h"
#include "study/tune/tune_loads.h"
#include "study/tune/tune_search.h"
#include "study/tune/tune_space.h"

namespace inferscale {

constexpr double kTuneConfidence = 0.95;
constexpr std::int64_t kTuneRepeats = 3;  // of the search, where the configuration does not say

enum class TuneVerdict : std::uint8_t {
  kBetter,  // the tuned policy
  kWorse,
  kDoesNotMatter,  // the interval holds 0: no difference is shown
  kIdentical,      // every pair is equal
  kDiffers,        // all seeds give the same run: known of this one workload, and of no other
  kTooFew,         // seeds for an interval
  kNotComparable,  // a run of either could not be simulated
};

// What is shown of each load: the metric that counts, attempts rejected and deferred, TTFT p95.
inline constexpr std::size_t kTuneFigures = 4;

struct TuneLevel {
  std::vector<std::optional<double>> scores;  // goodput, by seed
  std::array<std::optional<Spread>, kTuneFigures> figures;
};

// The policy or a control at all loads, on the fresh seeds.
struct TuneSide {
  std::string name;                     // of the policy
  std::vector<TuneSetting> settings;    // one for all loads, or one each
  std::vector<TuneLevel> levels;        // by load
  std::optional<std::size_t> worst_at;  // index of a load
  bool alike = false;                   // every seed has the same figures
  std::string failure;                  // of the first run that was not simulated

  std::optional<double> worst() const;
};

struct TuneComparison {
  TuneSide control;
  std::optional<double> search_score;  // of fixed_concurrency
  std::optional<double> difference;    // of worst cases, tuned - control
  std::optional<MeanInterval> interval;
  std::int64_t better_seeds = 0;  // in which the tuned policy's is higher
  TuneVerdict verdict = TuneVerdict::kNotComparable;
};

struct TuneResult {
  std::string label;  // of the scenario
  std::string policy;
  Metric metric = Metric::kGoodput;
  Slo slo;
  TuneOptions options;
  std::int64_t repeats = 0;
  std::uint64_t seed = 0;
  TuneLoads loads;
  std::vector<TuneDimension> dimensions;
  TuneSearch search;
  std::vector<std::string> failures;  // of candidates, each once
  TuneSide tuned;
  std::optional<MeanInterval> tuned_interval;  // of its worst case
  std::vector<TuneComparison> controls;
  std::vector<std::string> notes;  // sentences

  const TuneTrial& best() const { return search.trials[*search.best]; }
};

// The figures of a level, the metric that counts first.
std::array<Metric, kTuneFigures> tune_figures(Metric counts);

// What is written wrong, before anything is run. `bare` is the scenario without a policy.
Result<void> check_tune(const Scenario& scenario, const Scenario& bare, const std::string& policy);

// REQUIRES: check_tune() found nothing; the executor runs scenario 0 for `scenario` and 1 for
// `bare`. Errors are the executor's, a capacity that was not found, and candidates of which none
// can be simulated.
Result<TuneResult> run_tune(const Scenario& scenario, const Scenario& bare,
                            const std::string& policy, RunExecutor& executor);

}  // namespace inferscale
