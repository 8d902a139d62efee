// Factors on step times, for asking what would change if the model were wrong.
//
// A step that only prefills is multiplied by `prefill`, one that only decodes by `decode`. A mixed
// step is what its decoding sequences alone would take, times `decode`, and what the prompts add to
// that, times `prefill`.

#pragma once

#include "replica/latency/latency_model.h"

namespace inferscale {

struct LatencyScales {
  double prefill = 1.0;
  double decode = 1.0;
};

// `whole` is the cost of `shape` before scaling; `decode_ns` that of its decode_part(), which is
// needed only where needs_decode_part().
bool needs_decode_part(const LatencyScales& scales, const StepShape& shape);
StepCost scaled(const LatencyScales& scales, const StepShape& shape, const StepCost& whole,
                double decode_ns);

}  // namespace inferscale
