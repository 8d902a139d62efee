// Forms the next step at a boundary: docs/schedulers/steps.md, word for word.

#include <algorithm>

#include "base/check.h"
#include "replica/segment_replica.h"

namespace inferscale {

void SegmentReplica::form_step(Instant now) {
  preempted_ = false;
  looks_again_ = false;
  if (!ready_.empty()) join_ready();
  if (rules_.mixed) {
    form_mixed(now);
  } else if (rules_.expects_output) {
    form_expecting(now);
  } else {
    form_separate(now);
  }
}

void SegmentReplica::join_ready() {
  for (const Slot slot : ready_) {
    Sequence& sequence = batch_[slot].sequence;
    transferring_tokens_ -= sequence.requested_left();
    sequence.computed = sequence.request.prompt_tokens;
    blocks_.computed(sequence.request, sequence.computed, sequence.hold);
    group_.join(slot);
    changed_ = true;
  }
  ready_.clear();
}

// --- separate steps

void SegmentReplica::form_separate(Instant now) {
  if (rules_.drains && running() == 0) {
    open_places_ = std::min(waiting_.size(), options_.max_num_seqs);
  }
  if (!waiting_.empty()) take_in_prompts(now);
  run_chunks_or_decodes(now);
}

void SegmentReplica::take_in_prompts(Instant now) {
  TokenCount budget = options_.max_num_batched_tokens;
  while (!waiting_.empty() && has_seat() && (!rules_.drains || open_places_ > 0)) {
    const WaitingQueue::Head head = waiting_.head();
    const Finding finding = find(head);
    const TokenCount tokens = head.handed_over ? 0 : head.target - finding.cached;
    if (!chunks_.empty() && !head.handed_over && tokens > budget) break;
    if (!head_fits(head, finding, blocks_.free())) {
      open_places_ = 0;
      break;
    }
    if (head.handed_over) {
      reserve_head(finding, now);
      continue;
    }
    const TokenCount to_hold = tokens_to_hold(head);
    const Slot slot = admit_head(finding, now);
    cover(batch_[slot], to_hold);
    if (rules_.drains) batch_[slot].sequence.reserved = blocks_.blocks_for(to_hold);
    partials_.push_back(slot);
    chunks_.push_back({.slot = slot, .tokens = tokens});
    budget -= tokens;
  }
}

void SegmentReplica::run_chunks_or_decodes(Instant now) {
  if (!chunks_.empty()) {
    begin_step(now, false);
  } else if (!group_.empty() && make_room_for_decodes()) {
    begin_step(now, true);
  } else {
    pause();
  }
}

// sglang: the prompt that is being chunked goes first, then the queue as far as room is expected.
void SegmentReplica::form_expecting(Instant now) {
  if (running() == 0) expected_.begin_anew(group_.steps_taken());
  const std::int64_t block = options_.layout.block_tokens;
  TokenCount budget = options_.max_num_batched_tokens;
  double room = expected_room();
  const auto give = [&](Slot slot, TokenCount left) {
    const TokenCount tokens = cut_to_blocks(left, budget);
    const TokenCount rounded = (tokens + block - 1) / block * block;
    give_chunk_of(slot, tokens);
    budget = tokens < left ? 0 : budget - rounded;
    room -= static_cast<double>(rounded + block);
    return tokens == left;
  };
  for (const Slot slot : partials_) {
    give(slot, batch_[slot].sequence.target() - batch_[slot].sequence.computed);
  }
  while (!full_ && !waiting_.empty() && (budget > 0 || waiting_.head().handed_over)) {
    const WaitingQueue::Head head = waiting_.head();
    const Finding finding = find(head);
    full_ = !has_seat() || !head_fits(head, finding, blocks_.free()) ||
            (!head.handed_over && !expects_to_fit(head, finding, room));
    if (full_) break;
    if (head.handed_over) {
      reserve_head(finding, now);
      continue;
    }
    const TokenCount left = head.target - finding.cached;
    if (cut_to_blocks(left, budget) == 0) break;
    const TokenCount output = expected_output(head);
    const Slot slot = admit_head(finding, now);
    partials_.push_back(slot);
    room -= static_cast<double>(finding.restored);
    if (give(slot, left)) room -= static_cast<double>(output);
  }
  run_chunks_or_decodes(now);
}

// As much of `left` as the budget allows; a part of it ends with a whole block. The budget may have
// been overdrawn by the rounding of the chunk before.
TokenCount SegmentReplica::cut_to_blocks(TokenCount left, TokenCount budget) const {
  return left <= budget ? left : whole_tokens(options_.layout, std::max<TokenCount>(budget, 0));
}

void SegmentReplica::give_chunk_of(Slot slot, TokenCount tokens) {
  Place& place = batch_[slot];
  cover(place, place.sequence.computed + tokens);
  chunks_.push_back({.slot = slot, .tokens = tokens});
}

// --- mixed steps

void SegmentReplica::form_mixed(Instant now) {
  if (!make_room_for_decodes()) {
    pause();
    return;
  }
  TokenCount budget = options_.max_num_batched_tokens - group_.size();
  if (rules_.merges_partials) {
    serve_merged(now, budget);
  } else {
    serve_partials(budget);
    serve_queue(now, budget);
  }
  if (chunks_.empty() && group_.empty()) {
    pause();
  } else {
    begin_step(now, !group_.empty());
  }
}

bool SegmentReplica::make_room_for_decodes() {
  if (blocks_.needed_next() <= blocks_.free()) return true;
  while (blocks_.needed_next() > blocks_.free()) {
    const Slot slot = victim();
    if (slot == kNoSlot || (group_.size() == 1 && partials_.empty())) {
      CHECK(!transferring_.empty()) << "the KV cache is too small for the one sequence in it";
      return false;
    }
    preempt(slot);
  }
  if (rules_.expects_output) reckon_ratio();
  return true;
}

// Whether the blocks of a chunk fit beside the decodes' next ones.
bool SegmentReplica::chunk_fits(Slot slot, TokenCount tokens) const {
  const Place& place = batch_[slot];
  const TokenCount upto = place.sequence.computed + tokens;
  return blocks_.blocks_for(upto) - blocks_.blocks_for(place.covered) <= room_after(0);
}

// Preempts until the chunk fits. False: the sequence itself was preempted.
bool SegmentReplica::make_room_for_chunk(Slot slot, TokenCount tokens, TokenCount& budget) {
  while (!chunk_fits(slot, tokens)) {
    const Slot out = victim();
    if (batch_[out].state == PlaceState::kDecoding) ++budget;
    preempt(out);
    if (out == slot) return false;
  }
  return true;
}

TokenCount SegmentReplica::next_chunk(Slot slot, TokenCount budget) const {
  const Sequence& sequence = batch_[slot].sequence;
  const TokenCount left = sequence.target() - sequence.computed;
  const TokenCount threshold = options_.long_prefill_token_threshold;
  return std::min({left, budget, threshold > 0 ? threshold : left});
}

std::vector<Slot> SegmentReplica::partials_in_order() const {
  std::vector<Slot> order = partials_;
  if (!options_.by_priority) return order;
  std::sort(order.begin(), order.end(), [this](Slot a, Slot b) {
    const Request& one = batch_[a].sequence.request;
    const Request& other = batch_[b].sequence.request;
    return one.priority != other.priority ? one.priority > other.priority : one.id < other.id;
  });
  return order;
}

void SegmentReplica::serve_partials(TokenCount& budget) {
  for (const Slot slot : partials_in_order()) {
    if (budget == 0) return;
    // One before it may have preempted it.
    if (std::find(partials_.begin(), partials_.end(), slot) == partials_.end()) continue;
    const TokenCount tokens = next_chunk(slot, budget);
    if (!make_room_for_chunk(slot, tokens, budget)) continue;
    give_chunk_of(slot, tokens);
    budget -= tokens;
  }
}

void SegmentReplica::serve_queue(Instant now, TokenCount& budget) {
  while (!preempted_ && has_seat() && !waiting_.empty()) {
    const WaitingQueue::Head head = waiting_.head();
    if (budget == 0 && !head.handed_over) return;
    const Finding finding = find(head);
    if (!head_fits(head, finding, room_after(0))) return;
    take_in_head(head, finding, now, budget);
  }
}

// Admits the head of a mixed scheduler's queue: with its first chunk, or for its transfer.
void SegmentReplica::take_in_head(const WaitingQueue::Head& head, const Finding& finding,
                                  Instant now, TokenCount& budget) {
  if (head.handed_over) {
    reserve_head(finding, now);
    return;
  }
  const Slot slot = admit_head(finding, now);
  partials_.push_back(slot);
  const TokenCount tokens = next_chunk(slot, budget);
  DCHECK(chunk_fits(slot, tokens));
  give_chunk_of(slot, tokens);
  budget -= tokens;
}

std::vector<SegmentReplica::Ranked> SegmentReplica::partials_by_key() const {
  std::vector<Ranked> ranked;
  for (const Slot slot : partials_) {
    const Sequence& sequence = batch_[slot].sequence;
    ranked.push_back(
        {.key = queue_key(options_, rules_.order, sequence.request,
                          sequence.target() - sequence.computed, sequence.requested_left()),
         .id = sequence.request.id,
         .slot = slot});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.key != b.key ? a.key < b.key : a.id < b.id;
  });
  return ranked;
}

// Partial and waiting sequences in the one order of their keys.
void SegmentReplica::serve_merged(Instant now, TokenCount& budget) {
  const std::vector<Ranked> ranked = partials_by_key();
  auto partial = ranked.begin();
  bool open = !preempted_;
  while (true) {
    const bool someone_waits = open && !waiting_.empty();
    if (partial == ranked.end() && !someone_waits) return;
    const WaitingQueue::Head head = someone_waits ? waiting_.head() : WaitingQueue::Head{};
    const bool head_first =
        someone_waits && (partial == ranked.end() || head.key < partial->key ||
                          (head.key == partial->key && head.request->id < partial->id));
    if (!head_first) {
      // Without budget only the handed-over behind it can still be served.
      const TokenCount tokens = next_chunk(partial->slot, budget);
      if (tokens > 0 && chunk_fits(partial->slot, tokens)) {
        give_chunk_of(partial->slot, tokens);
        budget -= tokens;
      }
      ++partial;
      continue;
    }
    if (budget == 0 && !head.handed_over) return;
    const Finding finding = find(head);
    open = has_seat() && head_fits(head, finding, room_after(0));
    if (open) take_in_head(head, finding, now, budget);
  }
}

}  // namespace inferscale
