// One figure over a study's repetitions.

#pragma once

#include <optional>
#include <span>

#include "study/metric.h"
#include "study/run_once.h"

namespace inferscale {

struct Spread {
  double mean = 0;
  std::optional<double> sd;  // of the sample; none of one repetition
  double min = 0;
  double max = 0;
};

// Nothing where a repetition has no such figure.
std::optional<Spread> spread_of(std::span<const RunResult> records, Metric metric);

}  // namespace inferscale
