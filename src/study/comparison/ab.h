// Is the treatment better than the baseline? A paired comparison, one verdict a metric.
//
// Both run with the same seed on each repetition, so that both see the same requests (common random
// numbers) and what is judged is the difference of each pair. A metric is decided when the expanded
// bootstrap interval of its mean difference (metrics/bootstrap.h) does not hold 0; else "no
// difference shown", which is not "no difference".
//
// With a budget of repetitions the comparison is looked at after n, 2n, 4n, ... repetitions and
// ends when each headline metric is decided, or known to within a stated half width. To look K
// times at 95 % would err K times as often, so each look has an equal share of the 5 %: confidence
// 1 - 0.05 / K (Bonferroni), and with it the metrics that are judged at the end.
//
// Where nothing is drawn at random all repetitions are one over again. A difference is then exact,
// and of this one workload: pairs are no votes, and there is nothing to make an interval of.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "metrics/bootstrap.h"
#include "metrics/paired.h"
#include "study/comparison/ab_options.h"
#include "study/comparison/alternatives.h"
#include "study/comparison/compared_metrics.h"
#include "study/metric.h"
#include "study/run_executor.h"

namespace inferscale {

constexpr double kAbConfidence = 0.95;
constexpr std::int64_t kAbDefaultRepeats = 10;

struct AbQuestion {
  ComparedWork work = ComparedWork::kRequests;
  AbOptions options;
  std::int64_t repeats = kAbDefaultRepeats;  // without a budget; with one, before the first look
  std::uint64_t seed = 0;
};
StudyOwnKeys ab_own_keys();  // what it takes from the baseline
// Options and seed of the baseline.
AbQuestion ab_question(const Scenario& baseline, const Scenario& treatment);
// The seed of `scenario` on a repetition: the treatment's is another one only when asked for.
std::uint64_t ab_seed(const AbQuestion& question, std::size_t scenario, std::int64_t repetition);

enum class AbVerdict : std::uint8_t {
  kBetter,  // of the treatment
  kWorse,
  kHigher,  // where neither way is better
  kLower,
  kNoDifferenceShown,
  kIdentical,      // every pair is equal
  kDiffers,        // all pairs are one over again: known of this one workload, and of no other
  kTooFew,         // pairs for an interval
  kNotComparable,  // no pair has the figure
};

struct AbRow {
  Metric metric = Metric::kGoodput;
  std::int64_t baseline_missing = 0;  // of the repetitions that both simulated
  std::int64_t treatment_missing = 0;
  std::optional<double> baseline_mean;  // over the pairs; without any, over all that have one
  std::optional<double> treatment_mean;
  PairedComparison paired;
  std::optional<MeanInterval> percentile;  // 95 %
  std::optional<MeanInterval> expanded;    // at the result's confidence; the verdict's
  AbVerdict verdict = AbVerdict::kNotComparable;
};

// kDecided: before all of the budget was made. kAlike: more would give the same figures again.
enum class AbEnd : std::uint8_t { kFixed, kDecided, kBudget, kAlike };

// The state of the comparison after so many repetitions.
struct AbLook {
  std::int64_t repeats = 0;
  std::vector<Metric> undecided;  // of the headline
};

// How the runs of one side went.
struct AbSide {
  std::int64_t simulated = 0;
  std::int64_t saturated = 0;      // the backlog grew
  std::int64_t unsteady = 0;       // or the run is too short to tell
  double unserved_mean = 0;        // requests a run that were refused, lost or left unfinished
  std::int64_t with_unserved = 0;  // runs with any
  double incomplete_mean = 0;      // sessions a run that were not completed
  std::int64_t with_incomplete = 0;
};

struct AbResult {
  AbQuestion question;
  std::int64_t repeats = 0;  // that were made
  double confidence = kAbConfidence;
  AbEnd end = AbEnd::kFixed;
  std::vector<AbLook> looks;  // with a budget
  // Of the metrics that any run has; of sessions' also not those that are 0 in all.
  std::vector<AbRow> rows;
  std::array<AbSide, 2> sides;
  std::int64_t pairs = 0;  // repetitions that both simulated
  bool alike = false;      // all repetitions of a side have the same figures: nothing is random
  std::vector<FailedRun> failures;
};

// Errors are the executor's.
Result<AbResult> compare_ab(const AbQuestion& question, RunExecutor& executor);

}  // namespace inferscale
