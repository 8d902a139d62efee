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
#include "study/metric.h"
#include "study/run_executor.h"

namespace inferscale {

// What conclusions are drawn from here.
constexpr std::array<Metric, 3> kComparedMetrics = {Metric::kTtftP95, Metric::kGoodput,
                                                    Metric::kE2eP95};

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
  // Means over the repetitions, by side and index in kComparedMetrics; nothing unless every
  // repetition has the figure.
  std::array<std::array<std::optional<double>, kComparedMetrics.size()>, 2> means;
  std::array<std::optional<double>, 2> worst_goodput;  // of the repetitions
  bool alike = false;  // more than one repetition, and all have the same figures

  Winner winner(std::size_t metric) const;  // index in kComparedMetrics
};

// Runs both sides of many points, `repeats` times each with the seeds from `seed` on, as one batch.
// Runs that failed are added to `failures`. Errors are the executor's.
Result<std::vector<ScaledPoint>> run_points(std::span<const ModelScales> scales,
                                            std::int64_t repeats, std::uint64_t seed,
                                            RunExecutor& executor,
                                            std::vector<FailedRun>& failures);

}  // namespace inferscale
