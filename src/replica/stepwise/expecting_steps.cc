// Steps by expected room: chunks of prompts alone in a step, and a head is admitted when what the
// running answers are expected to leave is enough for it (docs/schedulers/sglang.md).

#include <algorithm>

#include "replica/stepwise/steps.h"

namespace inferscale {
namespace {

class ExpectingStep {
 public:
  ExpectingStep(StepwiseState& state, Instant now, ReplicaSink& sink)
      : state_(state),
        now_(now),
        sink_(sink),
        block_(state.options.layout.block_tokens),
        budget_(state.options.max_num_batched_tokens),
        room_(expected_room()) {}

  void form() {
    for (Member& member : state_.batch) {
      if (member.stage == Stage::kPartial) give_chunk(member);
    }
    while (!state_.full && !state_.waiting.empty() && try_head()) {
    }
  }

 private:
  TokenCount answer_of(TokenCount requested_left) const {
    if (state_.options.role == ReplicaRole::kPrefill) return 1;
    return std::min(requested_left, ExpectedRoom::kClip);
  }
  double expected_room() const {
    TokenCount answers = 0;
    for (const Member& member : state_.batch) {
      if (member.stage == Stage::kDecoding) answers += answer_of(member.sequence.requested_left());
    }
    const double ratio = state_.expected.ratio(state_.usage.decode_steps);
    return static_cast<double>(state_.free_blocks() * block_) -
           ratio * static_cast<double>(answers);
  }
  TokenCount in_whole_blocks(TokenCount tokens) const {
    return (tokens + block_ - 1) / block_ * block_;
  }
  TokenCount chunk_of(TokenCount left) const {
    return left <= budget_ ? left : budget_ / block_ * block_;
  }
  void give_chunk(Member& member) {
    const TokenCount left = member.sequence.target() - member.sequence.computed;
    const TokenCount tokens = chunk_of(left);
    state_.plan_chunk(member, tokens);
    room_ -= static_cast<double>(in_whole_blocks(tokens) + block_);
    budget_ = tokens < left ? 0 : budget_ - in_whole_blocks(tokens);
  }
  // False: forming ends.
  bool try_head();

  StepwiseState& state_;
  Instant now_;
  ReplicaSink& sink_;
  std::int64_t block_;
  TokenCount budget_;
  double room_;
};

bool ExpectingStep::try_head() {
  const WaitingQueue::Head head = state_.waiting.head();
  if (!head.handed_over && budget_ <= 0) return false;
  const Found found = state_.look_up(head);
  const TokenCount left = head.target - found.tokens;
  const TokenCount generated = head.target - head.request->prompt_tokens;
  const TokenCount answer = answer_of(head.request->max_tokens - generated);
  const bool place = state_.batch_size() < state_.options.max_num_seqs;
  const bool expected = head.handed_over || state_.batch.empty() ||
                        static_cast<double>(left + found.restored + answer + block_) < room_;
  if (!place || !expected || !state_.fits(head, found)) {
    state_.full = true;
    return false;
  }
  if (!head.handed_over && chunk_of(left) == 0) return false;
  Member& member = state_.admit_head(found, now_);
  if (head.handed_over) {
    sink_.reserved(member.id(), found.tokens, now_);
    return true;
  }
  room_ -= static_cast<double>(found.restored);
  give_chunk(member);
  if (member.chunk == left) room_ -= static_cast<double>(answer);
  return true;
}

}  // namespace

void plan_expecting_step(StepwiseState& state, Instant now, ReplicaSink& sink) {
  if (state.batch.empty()) state.expected.begin_anew(state.usage.decode_steps);
  ExpectingStep(state, now, sink).form();
  if (state.chunks.empty()) state.plan_decodes();
}

}  // namespace inferscale
