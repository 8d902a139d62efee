#include "replica/latency/latency_model.h"

#include <algorithm>

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

void add_prompt(TokenCount cached, TokenCount tokens, TokenCount window, StepShape& shape) {
  const double before = static_cast<double>(cached);
  const double computed = static_cast<double>(tokens);
  const double pairs = computed * before + 0.5 * computed * (computed + 1.0);
  ++shape.prefill_sequences;
  shape.prefill_tokens += tokens;
  shape.prefill_context += cached;
  shape.prefill_pairs += pairs;
  if (window == 0) {
    shape.prefill_window_pairs += pairs;
    return;
  }
  // The first tokens still see everything before them, the others a full window.
  const double most = static_cast<double>(window);
  const double widening = std::clamp(most - before, 0.0, computed);
  shape.prefill_window_pairs +=
      widening * before + 0.5 * widening * (widening + 1.0) + (computed - widening) * most;
}

}  // namespace inferscale
