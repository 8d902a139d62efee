#include "replica/latency/latency_model.h"

namespace inferscale {

StepShape decode_part(const StepShape& shape) {
  return {.decode_sequences = shape.decode_sequences,
          .decode_context = shape.decode_context,
          .decode_window_context = shape.decode_window_context,
          .decode_growing = shape.decode_growing,
          .decode_tokens = shape.decode_tokens};
}

StepShape prompt_part(const StepShape& shape) {
  return {.prefill_sequences = shape.prefill_sequences,
          .prefill_tokens = shape.prefill_tokens,
          .prefill_pairs = shape.prefill_pairs,
          .prefill_context = shape.prefill_context,
          .prefill_window_pairs = shape.prefill_window_pairs};
}

}  // namespace inferscale
