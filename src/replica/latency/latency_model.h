// How long one step of the engine takes: the seam between the replica and the hardware.
//
// A step runs the model once over a batch: prompts that are prefilled (all their tokens that are
// not cached, or a chunk of them) and sequences that decode (one new token each), or both. A
// latency model sees the batch only through sums, so its cost does not depend on how many sequences
// there are.
//
// While the batch keeps its members, each further decode step attends to one more token for each
// sequence. A model answers with the cost of the first step, by how much each following step costs
// more, and for how many steps that straight line holds; the replica jumps over that many steps
// at once. What only the replica knows ends a jump too: a sequence that outgrows its sliding window
// (`decode_growing` changes then).

#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/request.h"

namespace inferscale {

struct StepShape {
  std::int64_t decode_sequences = 0;
  // Tokens that the decoding sequences attend to in this step, the new ones included.
  TokenCount decode_context = 0;
  std::int64_t prefill_sequences = 0;
  TokenCount prefill_tokens = 0;  // computed in this step, of all prompts together
  // Query-key pairs of the prompts: n c + n (n + 1) / 2 for n tokens after c that are in the cache.
  double prefill_pairs = 0;
  // Tokens in the cache that the prompts' new tokens attend to: the sum of c.
  TokenCount prefill_context = 0;
  // The same for layers with a sliding window of W tokens; equal to the plain figures where the
  // model has none. A decoding sequence of context x attends to min(x, W) tokens there; of the
  // decoding sequences `decode_growing` are still below W, and only theirs grows.
  TokenCount decode_window_context = 0;
  std::int64_t decode_growing = 0;
  double prefill_window_pairs = 0;
  // Tokens that each decoding sequence computes: 1, or the drafts of speculative decoding and one.
  // The contexts above are those of the first.
  std::int64_t decode_tokens = 1;
};

struct StepCost {
  double first_ns = 0;  // the step itself; at least 0
  double growth_ns =
      0;  // what each following decode step costs more than the one before; at least 0
  // For how many steps (this one included) that holds if the batch keeps its members; at least 1.
  std::int64_t valid_steps = std::numeric_limits<std::int64_t>::max();
};

// The step without its prompts, and without its decoding sequences.
StepShape decode_part(const StepShape& shape);
StepShape prompt_part(const StepShape& shape);

// Adds a prompt of which `tokens` tokens are computed behind `cached` that are in the cache.
// `window`: the model's sliding window, 0 for none.
void add_prompt(TokenCount cached, TokenCount tokens, TokenCount window, StepShape& shape);

class LatencyModel {
 public:
  virtual ~LatencyModel() = default;
  virtual std::string_view name() const = 0;
  // Pure: the same shape has the same cost. REQUIRES: the shape holds at least one sequence.
  virtual StepCost cost(const StepShape& shape) const = 0;
};

}  // namespace inferscale
