// Would the conclusion be another if the latency model were off? Two alternatives under the same
// errors of the model, drawn in a band.
//
// Prefill, decode and transfer times are multiplied by a scale each, drawn from [1/(1+b), 1+b]
// evenly in the logarithm (twice as slow is as likely as twice as fast), the same for both
// alternatives and with the same seeds. So what differs from draw to draw is the model alone. The
// draws are a way of looking around, not a belief about real hardware: a share of them is no
// probability.
//
// Besides, each scale is changed by itself, to find where the conclusion changes (scale_flips.h).

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "metrics/paired.h"
#include "study/comparison/alternatives.h"
#include "study/comparison/scale_flips.h"
#include "study/comparison/scaled_point.h"
#include "study/comparison/sensitivity_options.h"
#include "study/run_executor.h"

namespace inferscale {

constexpr std::int64_t kSensitivityDefaultRepeats = 3;

struct SensitivityQuestion {
  ComparedWork work = ComparedWork::kRequests;
  SensitivityOptions options;
  std::int64_t repeats = kSensitivityDefaultRepeats;  // of each point, with seeds of their own
  std::uint64_t seed = 0;
  double attainment = 0.99;     // goodput that every repetition must reach to meet the SLO
  bool with_transfers = false;  // else the transfer scale acts on nothing and stays 1
};
StudyOwnKeys sensitivity_own_keys();
// Options, seed and attainment of the baseline.
SensitivityQuestion sensitivity_question(const Scenario& baseline, const Scenario& treatment);

// How well one number of a draw tells the draws that the treatment loses from those that it wins.
struct ScaleSeparation {
  std::string name;  // "decode", or "prefill/decode": the ratio of the two scales
  // Of all pairs of a draw lost and a draw won, the share in which the lost one has the larger
  // scale (Mann and Whitney's U over its most): 0.5 tells nothing, 1 and 0 all. Pairs with equal
  // scales count half.
  double lost_is_larger = 0.5;
};

struct SensitivityRow {
  std::size_t metric = 0;  // index in compared_metrics()
  std::int64_t wins = 0;   // draws, of the treatment
  std::int64_t losses = 0;
  std::int64_t ties = 0;
  std::int64_t unknown = 0;     // a run failed, or has no such figure
  PairedComparison over_draws;  // of those that are known
  double delta_least = 0;
  double delta_most = 0;
  std::int64_t as_unscaled = 0;              // draws with the winner of the unscaled point
  std::vector<ScaleSeparation> separations;  // empty unless some are won and some lost
};

struct SensitivityResult {
  SensitivityQuestion question;
  ScaledPoint unscaled;
  std::vector<ScaledPoint> draws;
  std::vector<ScaleScan> scans;
  std::vector<ScaleFlip> flips;
  std::vector<SensitivityRow> rows;  // by index in compared_metrics()
  bool alike = false;                // at every point, all repetitions have the same figures
  std::vector<FailedRun> failures;
};

// Whether every repetition of a side reaches the attainment; nothing where a run has no goodput.
std::optional<bool> meets_slo(const SensitivityQuestion& question, const ScaledPoint& point,
                              std::size_t side);

// Errors are the executor's.
Result<SensitivityResult> find_sensitivity(const SensitivityQuestion& question,
                                           RunExecutor& executor);

}  // namespace inferscale
