#include "replica/latency/latency_scales.h"

namespace inferscale {

bool needs_decode_part(const LatencyScales& scales, const StepShape& shape) {
  return shape.prefill_tokens > 0 && shape.decode_sequences > 0 && scales.prefill != scales.decode;
}

StepCost scaled(const LatencyScales& scales, const StepShape& shape, const StepCost& whole,
                double decode_ns) {
  StepCost cost = whole;
  if (shape.prefill_tokens == 0) {
    cost.first_ns = scales.decode * whole.first_ns;
    cost.growth_ns = scales.decode * whole.growth_ns;
  } else if (needs_decode_part(scales, shape)) {
    cost.first_ns = scales.prefill * (whole.first_ns - decode_ns) + scales.decode * decode_ns;
  } else {
    cost.first_ns = scales.prefill * whole.first_ns;
  }
  // The next step holds other prompts or chunks: no line to go by.
  if (shape.prefill_tokens > 0) {
    cost.growth_ns = 0;
    cost.valid_steps = 1;
  }
  return cost;
}

}  // namespace inferscale
