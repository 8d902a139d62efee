// Mixed steps: every decoding sequence gets a token, and prompts get chunks of what the token
// budget leaves. Whoever is admitted finds blocks for all of its prompt, so some chunk always fits
// when nobody decodes.

#include <algorithm>
#include <utility>
#include <vector>

#include "replica/stepwise/steps.h"

namespace inferscale {
namespace {

// The least goes first.
using Rank = std::pair<QueueKey, RequestId>;

class MixedStep {
 public:
  MixedStep(StepwiseState& state, Instant now, ReplicaSink& sink)
      : state_(state), now_(now), sink_(sink) {}

  void plan();

 private:
  bool has_place() const { return state_.batch_size() < state_.options.max_num_seqs; }
  std::vector<RequestId> partials_in_order() const;
  Rank rank_of(const Member& member) const;
  void serve_partial_by_force(RequestId id);
  void admit_in_turn();
  bool try_to_admit_head();
  void serve_in_one_order(bool admits);

  StepwiseState& state_;
  Instant now_;
  ReplicaSink& sink_;
};

void MixedStep::plan() {
  if (!state_.plan_decodes()) return;
  if (state_.rules.merges_partials) {
    serve_in_one_order(!state_.preempted);
  } else {
    for (const RequestId id : partials_in_order()) serve_partial_by_force(id);
    if (!state_.preempted) admit_in_turn();
  }
}

Rank MixedStep::rank_of(const Member& member) const {
  const QueueOrder order = queue_order(state_.options);
  if (order == QueueOrder::kArrival) return {0, 0};
  const Sequence& sequence = member.sequence;
  return {queue_key(state_.options, order, sequence.request, sequence.target() - sequence.computed,
                    sequence.requested_left()),
          member.id()};
}

// In order of admission, or by rank where the queue has one.
std::vector<RequestId> MixedStep::partials_in_order() const {
  std::vector<const Member*> partials;
  for (const Member& member : state_.batch) {
    if (member.stage == Stage::kPartial) partials.push_back(&member);
  }
  std::stable_sort(partials.begin(), partials.end(),
                   [&](const Member* a, const Member* b) { return rank_of(*a) < rank_of(*b); });
  std::vector<RequestId> ids;
  for (const Member* member : partials) ids.push_back(member->id());
  return ids;
}

// Gives a partial sequence its chunk; preempts until the blocks are there.
void MixedStep::serve_partial_by_force(RequestId id) {
  Member* member = state_.find(id);
  if (member == nullptr) return;  // it was a victim meanwhile
  const TokenCount tokens = state_.chunk_size(*member);
  if (tokens == 0) return;
  while (state_.lacks(*member, member->sequence.computed + tokens) > state_.room()) {
    Member* victim = state_.victim();
    const bool itself = victim == member;
    state_.preempt(*victim);
    if (itself) return;
  }
  state_.plan_chunk(*member, tokens);
}

void MixedStep::admit_in_turn() {
  while (!state_.waiting.empty() && has_place()) {
    if (!try_to_admit_head()) return;
  }
}

// REQUIRES: somebody waits and a place is free. False: the head stays, and those behind it.
bool MixedStep::try_to_admit_head() {
  const WaitingQueue::Head head = state_.waiting.head();
  if (!head.handed_over && state_.budget() <= 0) return false;
  const Found found = state_.look_up(head);
  if (!state_.fits(head, found)) return false;
  Member& member = state_.admit_head(found, now_);
  if (head.handed_over) {
    sink_.reserved(member.id(), found.tokens, now_);
  } else {
    state_.plan_chunk(member, state_.chunk_size(member));
  }
  return true;
}

void MixedStep::serve_in_one_order(bool admits) {
  const std::vector<RequestId> partials = partials_in_order();
  std::size_t next = 0;
  while (true) {
    admits = admits && !state_.waiting.empty() && has_place();
    Member* partial = next < partials.size() ? state_.find(partials[next]) : nullptr;
    bool head_is_next = admits;
    if (admits && partial != nullptr) {
      const WaitingQueue::Head head = state_.waiting.head();
      head_is_next = Rank{head.key, head.request->id} < rank_of(*partial);
    }
    if (head_is_next) {
      admits = try_to_admit_head();
    } else if (partial != nullptr) {
      ++next;
      const TokenCount tokens = state_.chunk_size(*partial);
      const bool fits = tokens > 0 && state_.lacks(*partial, partial->sequence.computed + tokens) <=
                                          state_.room();
      if (fits) state_.plan_chunk(*partial, tokens);
    } else {
      return;
    }
  }
}

}  // namespace

void plan_mixed_step(StepwiseState& state, Instant now, ReplicaSink& sink) {
  MixedStep(state, now, sink).plan();
}

}  // namespace inferscale
