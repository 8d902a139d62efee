// The `measured` part of a case: each figure a metric of the simulator, or set aside with a reason.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/config_reader.h"
#include "study/validation/validation_case.h"

namespace inferscale {

struct MeasuredFigures {
  std::vector<MeasuredFigure> compared;
  std::vector<UnscoredFigure> unscored;
};

// Reads and finishes the map, which is `written` in the file: benchmarks name their figures flatly
// ("mean_ttft_ms"), and only names that occur are read, so that errors list few. `tier`: the
// source's word for broken columns ("B-tpot-unreliable": times to the first token and between
// tokens are not scored). Goodput needs an SLO.
MeasuredFigures read_measured_figures(ConfigReader measured, const ConfigNode& written,
                                      std::string_view tier, bool has_slo);

// Of requests that are all alike and in one batch, every statistic of E2E is that of TTFT +
// (answer tokens - 1) x TPOT. True when a statistic that all three have is more than a fifth off:
// answers ended early, or the batch was not one.
bool contradict_one_batch(std::span<const MeasuredFigure> figures, double answer_tokens);

}  // namespace inferscale
