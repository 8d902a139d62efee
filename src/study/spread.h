// One figure over a study's repetitions.

#pragma once

#include <optional>
#include <span>

#include "base/json_writer.h"
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

// On one line, as text: as a tree many of them would be large, and long to look at. Null for
// nothing.
JsonValue spread_json(const std::optional<Spread>& spread);

}  // namespace inferscale
