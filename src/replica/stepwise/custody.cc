// Who comes to the single-stepping replica from another one and goes elsewhere, callers who go,
// failures, the end of a run, and what must hold.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "replica/stepwise/stepwise_replica.h"

namespace inferscale {

void StepwiseReplica::enqueue_handoff(const Handoff& handoff, Instant now) {
  CHECK(state_.options.role == ReplicaRole::kDecode) << "request " << handoff.request.id;
  state_.waiting.hand_over(handoff);
  entered(now);
}

void StepwiseReplica::transferred(RequestId id, Instant now) {
  Member* member = state_.find(id);
  CHECK(member != nullptr && member->stage == Stage::kTransferring) << "request " << id;
  arrived_.push_back(id);
  disturb(now);
}

void StepwiseReplica::withdraw(RequestId id, Instant now) {
  if (Member* member = state_.find(id); member != nullptr) {
    CHECK(member->stage == Stage::kTransferring) << "request " << id;
    give_back_between(*member, now);
    state_.usage.sequence_ns += static_cast<double>((now - accounted_).ns());
    state_.remove(*member);
  } else {
    CHECK(state_.waiting.take_out(id)) << "request " << id;
  }
  state_.full = false;
  disturb(now);
}

bool StepwiseReplica::cancel(RequestId id, Instant now) {
  if (const std::optional<Sequence> waiting = state_.cancel_waiting(id)) {
    record(id, abandoned_outcome(*waiting));
  } else if (Member* member = state_.find(id); member == nullptr || member->leaves) {
    return false;
  } else if (member->stage == Stage::kTransferring) {
    const Sequence sequence = member->sequence;
    std::erase(arrived_, id);
    withdraw(id, now);
    record(id, abandoned_outcome(sequence));
  } else {
    member->leaves = true;
  }
  disturb(now);
  return true;
}

void StepwiseReplica::dismiss_leavers(Instant now) {
  for (auto next = state_.batch.begin(); next != state_.batch.end();) {
    Member& member = *next++;
    if (member.leaves) finish(member, now);
  }
}

void StepwiseReplica::record_leavers() {
  for (auto next = state_.batch.begin(); next != state_.batch.end();) {
    const Member& member = *next++;
    if (!member.leaves) continue;
    record(member.id(), abandoned_outcome(member.sequence));
    state_.remove(member);
  }
}

void StepwiseReplica::release(std::uint32_t ticket, Instant now) {
  const auto one = std::find_if(state_.parked.begin(), state_.parked.end(),
                                [&](const Parked& parked) { return parked.ticket == ticket; });
  CHECK(one != state_.parked.end()) << "ticket " << ticket;
  give_back_between(one->member, now);
  state_.parked.erase(one);
  state_.full = false;
  disturb(now);
}

// Blocks that go between two boundaries were held until now; account() will not see them any more.
void StepwiseReplica::give_back_between(Member& member, Instant now) {
  const BlockCount before = state_.held_blocks();
  state_.give_back(member);
  state_.usage.kv_block_ns += static_cast<double>(before - state_.held_blocks()) *
                              static_cast<double>((now - accounted_).ns());
}

// What has arrived since the last boundary is there and decodes from now on.
void StepwiseReplica::take_transferred() {
  for (const RequestId id : std::exchange(arrived_, {})) {
    Member& member = *state_.find(id);
    member.stage = Stage::kDecoding;
    member.sequence.computed = member.sequence.request.prompt_tokens;
    state_.publish(member);
  }
}

void StepwiseReplica::hand_over(Member& member) {
  const std::uint32_t ticket = next_ticket_++;
  const Sequence sequence = member.sequence;
  state_.parked.push_back({.ticket = ticket, .member = member});
  state_.remove(member);
  sink_.prefilled({.request = sequence.request,
                   .start = sequence.start,
                   .first_token = sequence.first_token,
                   .cached_tokens = sequence.cached_tokens,
                   .preemptions = sequence.preemptions,
                   .ticket = ticket});
}

std::vector<Request> StepwiseReplica::fail(Instant now) {
  take_for_step();
  account(now);
  state_.pass_time(now);
  record_leavers();
  running_ = false;
  undisturbed_ = true;
  segment_valid_ = 0;
  arrived_.clear();
  wake_at_ = Instant::never();
  return state_.clear(now);
}

void StepwiseReplica::flush() {
  record_leavers();
  for (const Member& member : state_.batch) {
    record(member.id(), outcome_of(member.sequence, OutcomeStatus::kUnfinished, Instant::never()));
  }
  while (!state_.waiting.empty()) {
    const Sequence sequence = state_.waiting.pop();
    record(sequence.request.id, outcome_of(sequence, OutcomeStatus::kUnfinished, Instant::never()));
  }
}

const char* StepwiseReplica::broken_invariant() const {
  if (const char* broken = state_.broken_invariant(); broken != nullptr) return broken;
  if (wake_at_ == Instant::never()) {
    const bool blocked = !state_.parked.empty() || state_.has(Stage::kTransferring);
    if (!blocked && !state_.waiting.empty()) return "INV-5: the replica idles while requests wait";
    if (!blocked && !state_.batch.empty()) return "INV-5: the replica idles with a batch";
    return nullptr;
  }
  const bool decodes_alone = running_ && state_.chunks.empty() && state_.budget() > 0;
  const bool by_blocks = !state_.rules.drains && !state_.rules.expects_output;
  if (by_blocks && decodes_alone && undisturbed_ && !state_.preempted && !state_.waiting.empty() &&
      state_.batch_size() < state_.options.max_num_seqs) {
    const WaitingQueue::Head head = state_.waiting.head();
    if (state_.fits(head, state_.look_up(head))) {
      return "INV-5: a request waits that could be admitted";
    }
  }
  return nullptr;
}

}  // namespace inferscale
