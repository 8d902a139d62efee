// Who is admitted with what, and who is preempted: docs/schedulers/steps.md, word for word.

#include <algorithm>

#include "base/check.h"
#include "replica/segment_replica.h"

namespace inferscale {

// --- what the head of the queue would need

SegmentReplica::Finding SegmentReplica::look_up(const WaitingQueue::Head& head) const {
  Finding finding;
  // Whoever comes with a computed prompt can use all of it that is here already.
  const TokenCount limit = head.handed_over ? head.request->prompt_tokens : head.target - 1;
  if (blocks_.finds()) {
    finding.match = blocks_.match(*head.request, limit);
    finding.cached = finding.match.tokens;
    if (retention_ != nullptr && !head.handed_over) {
      finding.cached = retention_->cached(*head.request, finding.match.tokens);
      finding.restored = finding.cached - finding.match.tokens;
    }
  }
  if (options_.shared_prefix_tokens > 0) {
    const TokenCount shared = std::min<TokenCount>(
        {options_.shared_prefix_tokens, head.request->shared_prefix_tokens, limit});
    finding.cached = shared;
    finding.prefix_blocks = whole_blocks(options_.layout, shared);
  }
  return finding;
}

TokenCount SegmentReplica::tokens_to_hold(const WaitingQueue::Head& head) const {
  if (rules_.drains) {
    return static_cast<TokenCount>(head.request->prompt_tokens) + head.request->max_tokens;
  }
  return head.handed_over ? head.request->prompt_tokens : head.target;
}

BlockCount SegmentReplica::owed_to_partials() const {
  BlockCount owed = 0;
  for (const Slot slot : partials_) {
    const Place& place = batch_[slot];
    owed += blocks_.blocks_for(place.sequence.target()) - blocks_.blocks_for(place.covered);
  }
  return owed;
}

BlockCount SegmentReplica::room_after(std::int64_t steps) const {
  return blocks_.free() - blocks_.needed_for(rules_.mixed ? steps + 1 : steps);
}

BlockCount SegmentReplica::room_for(const WaitingQueue::Head& head, const Finding& finding) const {
  const bool counts_partials = rules_.merges_partials || rules_.expects_output;
  const BlockCount owed = counts_partials ? owed_to_partials() : 0;
  const BlockCount cost = finding.cost(options_.layout, tokens_to_hold(head));
  return cost + owed + watermark();
}

// Where memory is ample the bound will do; what it costs is in proportion to the steps.
bool SegmentReplica::head_fits_after(std::int64_t steps, const WaitingQueue::Head& head) const {
  const BlockCount needed = room_for(head, find(head));
  const std::int64_t grown = rules_.mixed ? steps + 1 : steps;
  return needed <= blocks_.free() - blocks_.most_needed_for(grown) || needed <= room_after(steps);
}

// --- admission

BlockCount SegmentReplica::own_blocks(const Place& place, TokenCount tokens) const {
  const Sequence& sequence = place.sequence;
  const BlockCount all = sequence.reserved > 0 ? sequence.reserved : blocks_.blocks_for(tokens);
  return all - sequence.hold.blocks - sequence.prefix_blocks;
}

// Takes blocks so that the sequence has them for its first `tokens` tokens.
void SegmentReplica::cover(Place& place, TokenCount tokens) {
  blocks_.take(blocks_.blocks_for(tokens) - blocks_.blocks_for(place.covered));
  place.covered = tokens;
}

// Takes the head into the batch with what it shares; blocks of its own are the caller's.
Slot SegmentReplica::admit_head(const Finding& finding, Instant now) {
  changed_ = true;
  const Slot slot = batch_.take();
  Place& place = batch_[slot];
  Sequence& sequence = place.sequence;
  waiting_.pop_into(sequence);
  if (notes_ != nullptr) notes_->admitted.push_back(sequence.request.id);
  if (open_places_ > 0) --open_places_;
  blocks_.acquire(sequence.request, finding.match, sequence.hold);
  sequence.prefix_blocks = finding.prefix_blocks;
  sequence.computed = finding.cached;
  if (retention_ != nullptr) {
    const Duration restore =
        retention_->admitted(sequence.request, finding.match.tokens, finding.cached, now);
    restore_ns_ += static_cast<double>(restore.ns());
  }
  // A block that shared tokens fill only in part is its own.
  place.covered = whole_tokens(options_.layout, finding.cached - finding.restored);
  if (sequence.handed_over) return slot;
  if (sequence.preemptions > 0) {
    usage_.recomputed_tokens += sequence.target() - finding.cached;
  }
  if (sequence.start == Instant::never()) {
    sequence.start = now;
    sequence.cached_tokens = static_cast<std::uint32_t>(finding.cached);
    if (blocks_.finds() || options_.shared_prefix_tokens > 0) {
      usage_.prompt_tokens_looked_up += sequence.request.prompt_tokens;
      usage_.prompt_tokens_cached += finding.cached;
    }
  }
  return slot;
}

// A handed-over head: a place and blocks, and word to the owner to move its cache.
void SegmentReplica::reserve_head(const Finding& finding, Instant now) {
  const Slot slot = admit_head(finding, now);
  Place& place = batch_[slot];
  const Sequence& sequence = place.sequence;
  cover(place, sequence.request.prompt_tokens);
  place.state = PlaceState::kTransferring;
  transferring_.emplace(sequence.request.id, slot);
  transferring_tokens_ += sequence.requested_left();
  sink_.reserved(sequence.request.id, finding.cached, now);
}

// --- sglang

double SegmentReplica::expected_room() {
  return static_cast<double>(blocks_.free() * options_.layout.block_tokens) -
         expected_.ratio(group_.steps_taken()) *
             static_cast<double>(group_.requested_left_clipped());
}

TokenCount SegmentReplica::expected_output(const WaitingQueue::Head& head) const {
  if (options_.role == ReplicaRole::kPrefill) return 1;  // the others come elsewhere
  const TokenCount generated = head.target - head.request->prompt_tokens;
  return std::min(head.request->max_tokens - generated, ExpectedRoom::kClip);
}

bool SegmentReplica::expects_to_fit(const WaitingQueue::Head& head, const Finding& finding,
                                    double room) const {
  if (running() == 0) return true;
  const TokenCount tokens = head.target - finding.cached + finding.restored +
                            expected_output(head) + options_.layout.block_tokens;
  return static_cast<double>(tokens) < room;
}

// After a retraction: what the survivors have used of their limits.
void SegmentReplica::reckon_ratio() {
  TokenCount generated = 0;
  TokenCount requested = 0;
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    if (batch_[slot].state != PlaceState::kDecoding) continue;
    generated += group_.generated(batch_[slot]);
    requested += batch_[slot].sequence.request.max_tokens;
  }
  expected_.retracted(generated, requested, group_.size(), group_.steps_taken());
}

// --- preemption

// Whether `one` is to be preempted rather than `other`, which was admitted later.
bool SegmentReplica::goes_before(const Place& one, const Place& other) const {
  const Request& a = one.sequence.request;
  const Request& b = other.sequence.request;
  if (rules_.expects_output) {
    const std::uint32_t done = group_.generated(one);
    const std::uint32_t other_done = group_.generated(other);
    return done != other_done ? done < other_done : a.prompt_tokens > b.prompt_tokens;
  }
  if (!options_.by_priority) return false;
  return a.priority != b.priority ? a.priority < b.priority : a.id > b.id;
}

// kNoSlot when nobody may be preempted.
Slot SegmentReplica::victim() const {
  Slot worst = kNoSlot;
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    if (batch_[slot].state == PlaceState::kTransferring) continue;
    if (worst == kNoSlot || goes_before(batch_[slot], batch_[worst])) worst = slot;
    if (!options_.by_priority && !rules_.expects_output) break;
  }
  return worst;
}

void SegmentReplica::preempt(Slot slot) {
  Place& place = batch_[slot];
  Sequence& sequence = place.sequence;
  if (place.state == PlaceState::kDecoding) {
    group_.leave(slot);
    place.covered = sequence.computed;
  } else {
    std::erase(partials_, slot);
  }
  const BlockCount own = own_blocks(place, place.covered);
  if (rules_.expects_output) {
    blocks_.release(sequence.request, sequence.hold, own);
  } else {
    blocks_.release_preempted(sequence.request, sequence.computed, sequence.hold, own);
  }
  sequence.prefix_blocks = 0;
  sequence.computed = 0;
  sequence.handed_over = false;
  if (notes_ != nullptr) notes_->preempted.push_back(sequence.request.id);
  ++sequence.preemptions;
  waiting_.preempt(sequence);
  ++usage_.preemptions;
  preempted_ = true;
  changed_ = true;
  full_ = false;
  batch_.release(slot);
}

}  // namespace inferscale
