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
inline bool needs_decode_part(const LatencyScales& scales, const StepShape& shape) {
  return shape.prefill_tokens > 0 && shape.decode_sequences > 0 && scales.prefill != scales.decode;
}
inline StepCost scaled(const LatencyScales& scales, const StepShape& shape, const StepCost& whole,
                       double decode_ns) {
  if (shape.prefill_tokens == 0) {
    return {.first_ns = scales.decode * whole.first_ns,
            .growth_ns = scales.decode * whole.growth_ns,
            .valid_steps = whole.valid_steps};
  }
  // The next step holds other prompts or chunks: no line to go by.
  StepCost cost{.growth_ns = 0, .valid_steps = 1};
  if (needs_decode_part(scales, shape)) {
    cost.first_ns = scales.prefill * (whole.first_ns - decode_ns) + scales.decode * decode_ns;
  } else {
    cost.first_ns = scales.prefill * whole.first_ns;
  }
  return cost;
}

}  // namespace inferscale
