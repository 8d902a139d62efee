// Separate steps: a prefill step over whole prompts if anybody can be admitted, else a decode step.

#include <algorithm>

#include "replica/stepwise/steps.h"

namespace inferscale {
namespace {

bool is_open(const StepwiseState& state) {
  return state.rules.drains ? state.chosen > 0 : state.batch_size() < state.options.max_num_seqs;
}

TokenCount planned_tokens(const StepwiseState& state) {
  TokenCount tokens = 0;
  for (const Member* member : state.chunks) tokens += member->chunk;
  return tokens;
}

void admit(StepwiseState& state, Instant now, ReplicaSink& sink) {
  if (state.rules.drains && state.batch.empty()) {
    state.chosen = std::min(state.waiting.size(), state.options.max_num_seqs);
  }
  while (!state.waiting.empty() && is_open(state)) {
    const WaitingQueue::Head head = state.waiting.head();
    const Found found = state.look_up(head);
    const TokenCount to_compute = head.target - found.tokens;
    const bool first = state.chunks.empty();
    if (!head.handed_over && !first &&
        planned_tokens(state) + to_compute > state.options.max_num_batched_tokens) {
      return;
    }
    if (!state.fits(head, found)) {
      state.chosen = 0;
      return;
    }
    Member& member = state.admit_head(found, now);
    if (state.rules.drains) --state.chosen;
    if (head.handed_over) {
      sink.reserved(member.id(), found.tokens, now);
    } else {
      state.plan_chunk(member, to_compute);
    }
  }
}

}  // namespace

void plan_separate_step(StepwiseState& state, Instant now, ReplicaSink& sink) {
  admit(state, now, sink);
  if (state.chunks.empty()) state.plan_decodes();
}

}  // namespace inferscale
