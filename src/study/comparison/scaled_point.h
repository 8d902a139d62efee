// A comparison under one assumption of how far the latency model is off: what each side's figures
// are, and who is ahead.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "study/comparison/alternatives.h"
#include "study/comparison/compared_metrics.h"
#include "study/metric.h"
#include "study/run_executor.h"

namespace inferscale {

// What conclusions are drawn from here: the headline of a paired comparison, a latency first.
const HeadlineMetrics& compared_metrics(ComparedWork work);
constexpr std::size_t kComparedCount = HeadlineMetrics().size();
// The one that tells whether the SLO is met.
Metric met_metric(ComparedWork work);

enum class ModelScale : std::uint8_t { kPrefill, kDecode, kTransfer };
constexpr std::array<ModelScale, 3> kModelScales = {ModelScale::kPrefill, ModelScale::kDecode,
                                                    ModelScale::kTransfer};
const char* scale_name(ModelScale scale);  // "prefill"
double scale_of(const ModelScales& scales, ModelScale scale);
// All scales 1 but this one.
ModelScales only_scale(ModelScale scale, double value);

enum class Winner : std::uint8_t { kTreatmentWins, kBaselineWins, kTie, kUnknown };

struct ScaledPoint {
  ModelScales scales;
  ComparedWork work = ComparedWork::kRequests;
  // Means over the repetitions, by side and index in compared_metrics(); nothing unless every
  // repetition has the figure.
  std::array<std::array<std::optional<double>, kComparedCount>, 2> means;
  std::array<std::optional<double>, 2> worst_met;  // of the repetitions
  bool alike = false;  // more than one repetition, and all have the same figures

  Winner winner(std::size_t metric) const;  // index in compared_metrics()
};

// Runs both sides of many points, `repeats` times each with the seeds from `seed` on, as one batch.
// Runs that failed are added to `failures`. Errors are the executor's.
Result<std::vector<ScaledPoint>> run_points(std::span<const ModelScales> scales, ComparedWork work,
                                            std::int64_t repeats, std::uint64_t seed,
                                            RunExecutor& executor,
                                            std::vector<FailedRun>& failures);

}  // namespace inferscale
