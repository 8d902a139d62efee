// Predictions beside measurements: how wrong the model is, by metric, regime, hardware and model.
//
// Each case that can be simulated is run `repeats` times (its own key, 1 unless said otherwise)
// with the seeds seed, seed + 1, ...; its prediction is the mean. Open streams of generated
// requests are run once more with 8 x max_num_seqs requests that are all there at once: the
// throughput of that run is the capacity by which the load factor is told (load_regime.h).
//
// Figures of different metrics or regimes are never put into one error. A case that can't be
// simulated is kept with its reason.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "study/run_executor.h"
#include "study/scenario.h"
#include "study/validation/error_statistics.h"
#include "study/validation/load_regime.h"
#include "study/validation/validation_case.h"

namespace inferscale {

struct ComparedFigure {
  Metric metric;
  double measured = 0;
  std::optional<double> predicted;       // nothing: the run has no such figure
  std::optional<double> predicted_sd;    // over repetitions, where there are two or more
  std::optional<double> relative_error;  // nothing also where the measured figure is 0
};

struct ComparedCase {
  std::size_t index = 0;     // of the case
  std::size_t scenario = 0;  // of its runs
  std::int64_t repeats = 1;
  RegimeFinding regime;
  std::int64_t refused = 0;  // requests that the simulated engine could never serve, of one run
  std::vector<ComparedFigure> figures;
};

struct ListedCase {
  std::size_t index = 0;
  NotSimulated why;
};

// What the cases of an error have in common beside metric and regime.
enum class ErrorsBy : std::uint8_t { kRegime, kHardware, kModel, kHardwareAndModel };
std::string_view errors_by_name(ErrorsBy by);

struct ErrorGroup {
  ErrorsBy by = ErrorsBy::kRegime;
  std::string hardware;  // empty: all, as is `model`
  std::string model;
  Regime regime = Regime::kUndetermined;
  Metric metric = Metric::kTtftMean;
  ErrorStatistics errors;
};

struct ValidateResult {
  std::vector<ComparedCase> compared;  // in the order of the cases
  std::vector<ListedCase> not_simulated;
  std::vector<ErrorGroup> errors;
};

// REQUIRES: `scenario_of_case` has an index for each case that is simulated (case_scenarios.h), and
// `executor` runs these scenarios.
Result<ValidateResult> validate(std::span<const ValidationCase> cases,
                                const std::vector<Scenario>& scenarios,
                                std::span<const std::optional<std::size_t>> scenario_of_case,
                                const ValidateOptions& options, RunExecutor& executor);

}  // namespace inferscale
