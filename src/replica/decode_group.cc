#include "replica/decode_group.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace inferscale {

void DecodeGroup::add_to(StepShape& shape) const {
  const std::int64_t members = size();
  shape.decode_sequences = members;
  shape.decode_context = context_ + members;
  if (window_ == 0) {
    shape.decode_window_context = shape.decode_context;
    shape.decode_growing = members;
    return;
  }
  // The step's own token counts where the window has room for it; it was the last when it fills it.
  shape.decode_window_context = window_context_ + growing_;
  shape.decode_growing = growing_;
}

std::int64_t DecodeGroup::steps_to_change() const {
  std::int64_t next = finishing_.first_step();
  if (!filling_.empty()) next = std::min(next, filling_.first_step());
  return next - steps_;
}

TokenCount DecodeGroup::requested_left_clipped() {
  DCHECK(clip_ > 0);
  while (!clipping_.empty() && clipping_.first_step() <= steps_) {
    clipping_steps_ -= clipping_.first_step();
    clipping_.remove(clipping_.first_slot());
  }
  const auto above = static_cast<std::int64_t>(clipping_.size());
  return requested_left_ - (clipping_steps_ - above * steps_);
}

void DecodeGroup::watch_window(Slot slot, TokenCount cached) {
  if (window_ == 0) return;
  if (cached < window_) {
    filling_.push(steps_ + window_ - cached, slot);
  } else if (batch_[slot].sequence.reserved == 0 && blocks_.layout().has_window() &&
             cached < blocks_.window_limit()) {
    filling_.push(steps_ + blocks_.window_limit() - cached, slot);
  }
}

void DecodeGroup::join(Slot slot) {
  Place& place = batch_[slot];
  const Sequence& sequence = place.sequence;
  place.state = PlaceState::kDecoding;
  place.finish_step = steps_ + sequence.request.output_tokens - sequence.generated;
  finishing_.push(place.finish_step, slot);
  const TokenCount tokens = cached(place);
  context_ += tokens;
  requested_left_ += sequence.requested_left();
  if (clip_ > 0 && sequence.requested_left() > clip_) {
    const std::int64_t step = steps_ + sequence.requested_left() - clip_;
    clipping_.push(step, slot);
    clipping_steps_ += step;
  }
  if (sequence.reserved == 0) blocks_.start_growing(tokens);
  if (window_ > 0) {
    window_context_ += std::min(tokens, window_);
    if (tokens < window_) ++growing_;
    watch_window(slot, tokens);
  }
  joiners_.push_back(slot);
}

void DecodeGroup::leave(Slot slot) {
  Place& place = batch_[slot];
  Sequence& sequence = place.sequence;
  const TokenCount tokens = cached(place);
  sequence.generated = generated(place);
  sequence.computed = tokens;
  context_ -= tokens;
  requested_left_ -= sequence.requested_left();
  if (clip_ > 0 && clipping_.holds(slot)) {
    clipping_steps_ -= steps_ + sequence.requested_left() - clip_;
    clipping_.remove(slot);
  }
  if (sequence.reserved == 0) blocks_.stop_growing(tokens);
  if (window_ > 0) {
    window_context_ -= std::min(tokens, window_);
    if (tokens < window_) --growing_;
    if (filling_.holds(slot)) filling_.remove(slot);
  }
  finishing_.remove(slot);
  if (place.shares_gaps) {
    gaps_.leave(sequence.gaps);
    sequence.last_token = last_end_;
    place.shares_gaps = false;
  } else {
    std::erase(joiners_, slot);
  }
}

bool DecodeGroup::fill_windows() {
  bool filled = false;
  while (!filling_.empty() && filling_.first_step() == steps_) {
    const Slot slot = filling_.first_slot();
    filling_.remove(slot);
    const TokenCount tokens = cached(batch_[slot]);
    if (tokens == window_) {
      --growing_;
      filled = true;
      watch_window(slot, tokens);
    } else {
      blocks_.window_filled();
    }
  }
  return filled;
}

bool DecodeGroup::end_steps(const DecodeSegment& segment, std::int64_t from, std::int64_t steps,
                            Instant end, std::vector<Slot>& finished) {
  count_first_gaps(segment.time_after(from + 1));
  gaps_.add_steps(segment, from + 2, from + steps, size());
  context_ += size() * steps;
  window_context_ += growing_ * steps;
  requested_left_ -= size() * steps;
  steps_ += steps;
  last_end_ = end;
  const bool filled = !filling_.empty() && fill_windows();
  while (!finishing_.empty() && finishing_.first_step() == steps_) {
    const Slot slot = finishing_.first_slot();
    leave(slot);
    finished.push_back(slot);
  }
  if (finished.size() > 1) sort_by_admission(finished);
  return filled;
}

void DecodeGroup::sort_by_admission(std::vector<Slot>& slots) const {
  std::sort(slots.begin(), slots.end(),
            [this](Slot a, Slot b) { return batch_[a].serial < batch_[b].serial; });
}

// `inline`: on the way of every event, with one caller.
inline void DecodeGroup::count_first_gaps(Instant first_end) {
  const std::int64_t sharing = size() - static_cast<std::int64_t>(joiners_.size());
  if (sharing > 0) gaps_.add(first_end - last_end_, sharing);
  for (const Slot slot : joiners_) {
    Place& place = batch_[slot];
    gaps_.judge(first_end - place.sequence.last_token, place.sequence.gaps);
    gaps_.join(place.sequence.gaps);
    place.shares_gaps = true;
  }
  joiners_.clear();
  if (gaps_.wants_forgetting(static_cast<size_t>(size()))) forget_old_gaps();
}

void DecodeGroup::forget_old_gaps() {
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    const Place& place = batch_[slot];
    if (place.shares_gaps) oldest = std::min(oldest, place.sequence.gaps.time_mark);
  }
  gaps_.forget_before(oldest);
}

void DecodeGroup::clear() {
  finishing_ = FinishQueue();
  filling_ = FinishQueue();
  clipping_ = FinishQueue();
  clipping_steps_ = 0;
  joiners_.clear();
  context_ = window_context_ = requested_left_ = 0;
  growing_ = 0;
}

}  // namespace inferscale
