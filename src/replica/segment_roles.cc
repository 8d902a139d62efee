// Hand-overs between prefill and decode replicas, failures, the end of a run, and what must hold.

#include <algorithm>

#include "base/check.h"
#include "replica/segment_replica.h"

namespace inferscale {

void SegmentReplica::enqueue_handoff(const Handoff& handoff, Instant now) {
  const bool was_empty = waiting_.empty();
  waiting_.hand_over(handoff);
  consider_head(handoff.request.id, was_empty, now);
}

void SegmentReplica::transferred(RequestId id, Instant now) {
  const auto found = transferring_.find(id);
  CHECK(found != transferring_.end()) << "request " << id << " has no place reserved";
  const Slot slot = found->second;
  transferring_.erase(found);
  ready_.push_back(slot);
  if (phase_ == Phase::kIdle) {
    wake_if_idle(now);
  } else {
    cut_segment(now);
  }
}

void SegmentReplica::withdraw(RequestId id, Instant now) {
  const auto found = transferring_.find(id);
  if (found == transferring_.end()) {
    CHECK(waiting_.take_out(id)) << "request " << id << " does not wait";
  } else {
    leave_transfer(found->second, now);
  }
  look_again(now);
}

void SegmentReplica::release(std::uint32_t ticket, Instant now) {
  Place& place = batch_[ticket];
  CHECK(place.state == PlaceState::kParked) << "nothing is kept for ticket " << ticket;
  give_back_between(place, place.sequence.computed, now);
  batch_.unpark(ticket);
  full_ = false;
  wake_if_idle(now);
}

// Blocks for `tokens` tokens that go between two boundaries were held until now; the integral over
// the running step, or the pause, is taken with what is there at its end.
void SegmentReplica::give_back_between(Place& place, TokenCount tokens, Instant now) {
  const BlockCount before = blocks_.held();
  blocks_.release(place.sequence.request, place.sequence.hold, own_blocks(place, tokens));
  usage_.kv_block_ns +=
      static_cast<double>(before - blocks_.held()) * static_cast<double>((now - boundary_).ns());
}

std::vector<Request> SegmentReplica::fail(Instant now) {
  if (phase_ == Phase::kStep) {
    // Steps that ended before `now` count, the one under way does not.
    std::int64_t ended = 0;
    if (decodes_ && now > boundary_) {
      ended = step_ending_at(now, planned_steps_) - 1;
    }
    if (ended > 0) {
      planned_steps_ = ended;
      const Instant last_end = segment_.time_after(taken_steps_ + ended);
      end_decodes(ended, last_end);
      boundary_ = last_end;
    }
    const BlockCount next = decodes_ ? blocks_.needed_for(1) : 0;
    const double ns = static_cast<double>((now - boundary_).ns());
    account(boundary_, now, static_cast<double>(blocks_.held() + next) * ns);
    usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, blocks_.held() + next);
    if (retention_ != nullptr) {
      pass_time(boundary_);
      blocks_.take(next);
      pass_time(now);
    }
  } else {
    account_idle(now);
  }
  boundary_ = now;
  call_leavers();
  for (const Slot slot : leavers_) {
    record_abandoned(batch_[slot].sequence);
    batch_.release(slot);
  }
  std::vector<Request> dropped;
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    dropped.push_back(batch_[slot].sequence.request);
  }
  while (!waiting_.empty()) dropped.push_back(waiting_.pop().request);
  std::sort(dropped.begin(), dropped.end(),
            [](const Request& a, const Request& b) { return a.id < b.id; });
  drop_everything();
  return dropped;
}

void SegmentReplica::drop_everything() {
  // The tracker keeps nothing that a sequence of the future could ask for.
  group_.clear();
  batch_.clear();
  blocks_ = KvBlocks(options_.kv_blocks, options_.layout, options_.prefix_caching);
  blocks_.take(resident_blocks_);
  if (retention_ != nullptr) retention_->begin_anew(boundary_);
  partials_.clear();
  chunks_.clear();
  leavers_.clear();
  ready_.clear();
  transferring_.clear();
  transferring_tokens_ = 0;
  open_places_ = 0;
  full_ = false;
  expected_.begin_anew(group_.steps_taken());
  if (notes_ != nullptr) notes_->clear();
  pause();
}

// --- chains of calls, between two boundaries

double SegmentReplica::pass_steps(std::int64_t steps) {
  const double integral = blocks_.advance_in_order(segment_, taken_steps_, steps,
                                                   [this](Instant at) { pass_time(at); });
  pass_time(segment_.time_after(taken_steps_ + steps));
  return integral;
}

// The step that begins is longer by what it loads before it computes.
void SegmentReplica::wait_for_restore(Instant now) {
  segment_ = DecodeSegment(now, {.first_ns = segment_.step_ns(1) + restore_ns_});
  restore_ns_ = 0;
}

void SegmentReplica::end_chain(const Request& request, Instant now) {
  if (retention_ != nullptr) retention_->ended_elsewhere(request, now);
}

// The run is over: blocks are taken as they would be in the steps up to now, and nobody goes on.
void SegmentReplica::settle(Instant now) {
  if (retention_ == nullptr) return;
  if (phase_ == Phase::kStep && decodes_) {
    const std::int64_t ended = steps_ended_by(now);
    if (ended > 0) pass_steps(ended);
    pass_time(segment_.time_after(taken_steps_ + ended));
    blocks_.take(blocks_.needed_next());
  }
  pass_time(now);
}

void SegmentReplica::flush() {
  flush_leavers();
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    Sequence& sequence = batch_[slot].sequence;
    if (batch_[slot].shares_gaps) gaps_.leave(sequence.gaps);
    Outcome outcome = outcome_of(sequence, OutcomeStatus::kUnfinished, Instant::never());
    outcome.replica = options_.index;
    sink_.record(sequence.request.id, outcome);
  }
  while (!waiting_.empty()) {
    const Sequence sequence = waiting_.pop();
    Outcome outcome = outcome_of(sequence, OutcomeStatus::kUnfinished, Instant::never());
    outcome.replica = options_.index;
    sink_.record(sequence.request.id, outcome);
  }
}

// All the blocks of a sequence in the batch, shared ones included.
BlockCount SegmentReplica::blocks_of(Slot slot) const {
  const Place& place = batch_[slot];
  if (place.sequence.reserved > 0) return place.sequence.reserved;
  const bool decodes = place.state == PlaceState::kDecoding;
  return blocks_.blocks_for(decodes ? group_.cached(place) : place.covered);
}

const char* SegmentReplica::broken_invariant() const {
  if (running() > options_.max_num_seqs) return "INV-4: more sequences run than max_num_seqs";
  if (blocks_.held() + blocks_.free() != blocks_.total()) return "INV-4: KV blocks do not add up";
  if (const char* broken = blocks_.broken_invariant()) return broken;
  if (!blocks_.finds() && batch_.parked() == 0) {
    BlockCount held = resident_blocks_;
    for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
      held += blocks_of(slot) - batch_[slot].sequence.prefix_blocks;
    }
    if (held != blocks_.held()) return "INV-4: the sequences' KV blocks are not those held";
  }
  const bool blocked = batch_.parked() > 0 || !transferring_.empty();
  if (phase_ == Phase::kIdle && wake_at_ == Instant::never() && !waiting_.empty() && !blocked) {
    return "INV-5: the replica idles while requests wait";
  }
  if (skips_head()) return "INV-5: a request waits that could be admitted";
  return nullptr;
}

// Whether the head of the queue waits though the running segment could have let it in.
bool SegmentReplica::skips_head() const {
  if (!is_decoding() || waiting_.empty() || !has_seat()) return false;
  if (rules_.drains || preempted_ || full_ || looks_again_) return false;
  const WaitingQueue::Head head = waiting_.head();
  if (head.handed_over) return false;  // when it came is not known any more
  // At the boundary it competed with the first step's blocks; who came later, with those of the
  // steps up to the next boundary.
  const Instant arrival = head.request->arrival;
  const bool was_there = arrival <= boundary_;
  const std::int64_t steps = was_there ? 0 : step_ending_at(arrival, planned_steps_);
  if (!was_there && steps >= planned_steps_) return false;
  const std::int64_t counted = was_there && !rules_.mixed ? 1 : steps;
  return head_fits(head, find(head), room_after(counted));
}

}  // namespace inferscale
