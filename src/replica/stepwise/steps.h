// What the next step is made of: one function for each way of forming steps.
//
// Each is called at a boundary, when the step before has ended, and leaves in the state who decodes
// (Member::decodes) and who gets a chunk (StepwiseState::chunks). Neither means that nothing can
// run. `sink` takes the reservations of handed-over sequences. The rules: docs/schedulers/steps.md,
// under the same headings.

#pragma once

#include "replica/stepwise/state.h"

namespace inferscale {

void plan_separate_step(StepwiseState& state, Instant now, ReplicaSink& sink);
void plan_mixed_step(StepwiseState& state, Instant now, ReplicaSink& sink);
// Separate steps with chunks, by the room that answers are expected to leave (sglang.md).
void plan_expecting_step(StepwiseState& state, Instant now, ReplicaSink& sink);

}  // namespace inferscale
