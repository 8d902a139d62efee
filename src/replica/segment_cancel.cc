// Requests whose callers have gone: out of the queue or a transfer at once, out of the batch at the
// end of the step that is under way.

#include <algorithm>

#include "base/check.h"
#include "replica/segment_replica.h"

namespace inferscale {

bool SegmentReplica::cancel(RequestId id, Instant now) {
  DCHECK(now <= wake_at_);
  if (cancel_waiting(id, now)) return true;
  Slot slot = batch_.last_admitted();
  while (slot != kNoSlot && batch_[slot].sequence.request.id != id) slot = batch_[slot].previous;
  if (slot == kNoSlot || batch_[slot].leaves) return false;
  if (batch_[slot].state == PlaceState::kTransferring) {
    const Sequence sequence = batch_[slot].sequence;
    leave_transfer(slot, now);
    record_abandoned(sequence);
  } else {
    batch_[slot].leaves = true;
    leavers_.push_back(slot);
  }
  look_again(now);
  return true;
}

bool SegmentReplica::cancel_waiting(RequestId id, Instant now) {
  if (waiting_.empty()) return false;
  const bool was_head = waiting_.head().request->id == id;
  const bool was_chosen = open_places_ > 0 && waiting_.is_among_first(id, open_places_);
  const std::optional<Sequence> sequence = waiting_.take_out(id);
  if (!sequence) return false;
  if (was_chosen) --open_places_;
  record_abandoned(*sequence);
  // Nobody behind another one can be admitted before it.
  if (was_head) look_again(now);
  return true;
}

void SegmentReplica::record_abandoned(const Sequence& sequence) {
  Outcome outcome = abandoned_outcome(sequence);
  outcome.replica = options_.index;
  sink_.record(sequence.request.id, outcome);
}

void SegmentReplica::look_again(Instant now) {
  full_ = false;
  looks_again_ = true;
  if (phase_ == Phase::kIdle) {
    wake_if_idle(now);
  } else {
    cut_segment(now);
  }
}

// A place that is kept for a sequence whose KV cache is on its way, or has come since the last
// boundary.
void SegmentReplica::leave_transfer(Slot slot, Instant now) {
  Place& place = batch_[slot];
  transferring_.erase(place.sequence.request.id);
  std::erase(ready_, slot);
  transferring_tokens_ -= place.sequence.requested_left();
  give_back_between(place, place.covered, now);
  usage_.sequence_ns += static_cast<double>((now - boundary_).ns());
  batch_.release(slot);
  changed_ = true;
}

void SegmentReplica::sort_leavers() {
  std::sort(leavers_.begin(), leavers_.end(),
            [this](Slot a, Slot b) { return batch_[a].serial < batch_[b].serial; });
}

void SegmentReplica::call_leavers() {
  // Those who ended with the step have been recorded.
  std::erase_if(leavers_, [this](Slot slot) { return !batch_[slot].leaves; });
  sort_leavers();
  for (const Slot slot : leavers_) {
    if (batch_[slot].state == PlaceState::kDecoding) {
      group_.leave(slot);
    } else {
      std::erase(partials_, slot);
    }
  }
}

void SegmentReplica::dismiss_leavers(Instant now) {
  call_leavers();
  for (const Slot slot : leavers_) finish(slot, now);
  leavers_.clear();
  full_ = false;
}

// The run ends before the step under way does. The jump was cut to end with that step: all others
// of it have ended.
void SegmentReplica::flush_leavers() {
  if (leavers_.empty()) return;
  if (phase_ == Phase::kStep && decodes_ && planned_steps_ > 1) {
    const std::int64_t ended = planned_steps_ - 1;
    group_.end_steps(segment_, taken_steps_, ended, segment_.time_after(taken_steps_ + ended),
                     finished_);
  }
  sort_leavers();
  for (const Slot slot : leavers_) {
    Place& place = batch_[slot];
    if (place.state == PlaceState::kDecoding) place.sequence.generated = group_.generated(place);
    if (place.shares_gaps) gaps_.leave(place.sequence.gaps);
    record_abandoned(place.sequence);
    batch_.release(slot);
  }
  leavers_.clear();
}

}  // namespace inferscale
