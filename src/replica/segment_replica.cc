#include "replica/segment_replica.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

SegmentReplica::SegmentReplica(const ReplicaOptions& options,
                               const ReplicaSurroundings& surroundings)
    : options_(options),
      rules_(rules_of(options.scheduler)),
      latency_(surroundings.latency),
      sink_(surroundings.sink),
      waiting_(options_),
      blocks_(options.kv_blocks, options.layout, options.prefix_caching),
      gaps_(options.itl_limit, options.class_itl_limits, surroundings.gaps),
      group_(batch_, blocks_, gaps_, rules_.expects_output ? ExpectedRoom::kClip : 0),
      may_find_(options.prefix_caching || options.shared_prefix_tokens > 0),
      observer_(surroundings.observer),
      notes_(observer_ == nullptr ? nullptr : std::make_unique<StepNotes>()) {
  resident_blocks_ = resident_prefix_blocks(options_);
  blocks_.take(resident_blocks_);
  usage_.kv_blocks_peak = resident_blocks_;
  if (options_.retention) {
    retention_ = std::make_unique<RetentionLedger>(options_, blocks_.cache(), usage_.retention);
  }
}

void SegmentReplica::wake_if_idle(Instant now) {
  if (phase_ == Phase::kIdle) wake_at_ = std::min(wake_at_, now);
}

void SegmentReplica::cut_segment(Instant at) {
  if (!is_decoding()) return;
  plan(step_ending_at(at, planned_steps_));
}

void SegmentReplica::enqueue(const Request& request) {
  const Reason reason = refusal_of(options_, request, waiting_.size());
  if (reason != Reason::kNone) {
    Outcome outcome = outcome_of(request, OutcomeStatus::kRefused, reason);
    outcome.replica = options_.index;
    sink_.record(request.id, outcome);
    return;
  }
  const bool was_empty = waiting_.empty();
  waiting_.arrive(request);
  consider_head(request.id, was_empty, request.arrival);
}

void SegmentReplica::consider_head(RequestId newcomer, bool was_empty, Instant now) {
  if (phase_ == Phase::kIdle) {
    wake_if_idle(now);
    return;
  }
  usage_.queue_peak = std::max(usage_.queue_peak, waiting_.size());
  if (!is_decoding() || !has_seat() || rules_.drains) return;
  const WaitingQueue::Head head = waiting_.head();
  if (!was_empty && head.request->id != newcomer) return;
  const std::int64_t step = step_ending_at(now, natural_steps_);
  // sglang tries the head at the next boundary, and nobody else after it has failed.
  const bool may_join = rules_.expects_output ? !full_ : head_fits_after(step, head);
  if (step < natural_steps_ && may_join) {
    plan(step);
  } else if (ready_.empty() && !looks_again_) {
    // The segment may have been cut for a head that stands behind this one now.
    plan(natural_steps_);
  }
}

// `inline`, here and below: on the way of every event, and a call would cost as much as they do.
inline void SegmentReplica::plan(std::int64_t steps) {
  planned_steps_ = steps;
  wake_at_ = segment_.time_after(taken_steps_ + steps);
}

void SegmentReplica::wake(Instant now) {
  DCHECK(now == wake_at_);
  if (phase_ == Phase::kStep) {
    end_step(now);
  } else {
    account_idle(now);
  }
  if (!leavers_.empty()) dismiss_leavers(now);
  boundary_ = now;
  form_step(now);
  if (notes_ != nullptr) note_formed_step(now);
  usage_.running_peak = std::max(usage_.running_peak, running());
  usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, blocks_.held());
  usage_.queue_peak = std::max(usage_.queue_peak, waiting_.size());
}

void SegmentReplica::account(Instant from, Instant to, double kv_block_ns) {
  const double ns = static_cast<double>((to - from).ns());
  usage_.busy_ns += ns;
  usage_.sequence_ns += ns * static_cast<double>(running());
  usage_.kv_block_ns += kv_block_ns;
}

// No step ran, but sequences in transfer and parked ones held their places and blocks.
void SegmentReplica::account_idle(Instant to) {
  const double ns = static_cast<double>((to - boundary_).ns());
  usage_.sequence_ns += ns * static_cast<double>(running());
  usage_.kv_block_ns += ns * static_cast<double>(blocks_.held());
  if (retention_ != nullptr) pass_time(to);
}

inline void SegmentReplica::end_step(Instant now) {
  if (notes_ != nullptr) tell_ended_step(now);
  if (decodes_) {
    end_decodes(planned_steps_, now);
    usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, blocks_.held());
    for (const Slot slot : finished_) finish(slot, now);
    if (!finished_.empty()) full_ = false;
  } else {
    const double ns = static_cast<double>((now - boundary_).ns());
    account(boundary_, now, static_cast<double>(blocks_.held()) * ns);
    if (retention_ != nullptr) pass_time(now);
  }
  if (!chunks_.empty()) end_chunks(now);
}

void SegmentReplica::end_decodes(std::int64_t steps, Instant end) {
  account(boundary_, end,
          retention_ == nullptr ? blocks_.advance(segment_.after(taken_steps_), steps)
                                : pass_steps(steps));
  finished_.clear();
  if (taken_steps_ == 0) ++usage_.segments;
  if (group_.end_steps(segment_, taken_steps_, steps, end, finished_)) changed_ = true;
  taken_steps_ += steps;
  usage_.decode_steps = group_.steps_taken();
}

void SegmentReplica::end_chunks(Instant now) {
  changed_ = true;
  ++usage_.prefill_steps;
  std::size_t whole = 0;  // prompts that are computed to their end now
  for (const Chunk& chunk : chunks_) {
    Sequence& sequence = batch_[chunk.slot].sequence;
    sequence.computed += chunk.tokens;
    blocks_.computed(sequence.request, sequence.computed, sequence.hold);
    if (sequence.computed < sequence.target()) continue;
    ++whole;
    batch_[chunk.slot].state = PlaceState::kDecoding;
    const std::int64_t before = running();
    emit_after_prefill(chunk.slot, now);
    if (running() < before) full_ = false;
  }
  chunks_.clear();
  if (whole == partials_.size()) {
    partials_.clear();
  } else if (whole > 0) {
    std::erase_if(partials_,
                  [this](Slot slot) { return batch_[slot].state != PlaceState::kPartial; });
  }
}

inline void SegmentReplica::emit_after_prefill(Slot slot, Instant now) {
  Sequence& sequence = batch_[slot].sequence;
  if (sequence.first_token == Instant::never()) {
    sequence.first_token = now;
    if (options_.tells_first_tokens) sink_.first_token(sequence.request.id, now);
  } else {
    gaps_.judge(now - sequence.last_token, sequence.gaps);
  }
  ++sequence.generated;
  sequence.last_token = now;
  if (sequence.generated == sequence.request.output_tokens) {
    finish(slot, now);
  } else if (options_.role == ReplicaRole::kPrefill && !batch_[slot].leaves) {
    hand_over(slot);
  } else {
    group_.join(slot);
  }
}

// The sequence is in no group any more; `computed` says what it has in the cache. Where its caller
// has gone it is abandoned, even if it has all its tokens.
void SegmentReplica::finish(Slot slot, Instant now) {
  Place& place = batch_[slot];
  Sequence& sequence = place.sequence;
  if (sequence.request.output_is_content) {
    blocks_.computed(sequence.request, sequence.computed, sequence.hold);
  }
  const BlockCount own = own_blocks(place, sequence.computed);
  blocks_.release(sequence.request, sequence.hold, own);
  if (retention_ != nullptr) retention_->ended(sequence, now);
  Outcome outcome = place.leaves ? abandoned_outcome(sequence)
                                 : outcome_of(sequence, OutcomeStatus::kFinished, now);
  place.leaves = false;
  outcome.replica = options_.index;
  const RequestId id = sequence.request.id;
  batch_.release(slot);
  changed_ = true;
  sink_.record(id, outcome);
}

void SegmentReplica::hand_over(Slot slot) {
  const Sequence& sequence = batch_[slot].sequence;
  const Handoff handoff{.request = sequence.request,
                        .start = sequence.start,
                        .first_token = sequence.first_token,
                        .cached_tokens = sequence.cached_tokens,
                        .preemptions = sequence.preemptions,
                        .ticket = slot};
  batch_.park(slot);
  sink_.prefilled(handoff);
}

void SegmentReplica::add_chunks_to(StepShape& shape) const {
  for (const Chunk& chunk : chunks_) {
    add_prompt(batch_[chunk.slot].sequence.computed, chunk.tokens, options_.layout.window_tokens,
               shape);
  }
}

inline StepShape SegmentReplica::shape_of_step(bool with_decodes) const {
  StepShape shape;
  if (with_decodes) group_.add_to(shape);
  if (!chunks_.empty()) add_chunks_to(shape);
  return shape;
}

void SegmentReplica::begin_step(Instant now, bool with_decodes) {
  phase_ = Phase::kStep;
  decodes_ = with_decodes;
  if (changed_ || !chunks_.empty() || taken_steps_ == line_steps_) {
    const StepCost cost = latency_.cost(shape_of_step(with_decodes));
    segment_ = DecodeSegment(now, cost);
    line_steps_ = chunks_.empty() ? cost.valid_steps : 1;
    taken_steps_ = 0;
    changed_ = false;
  }
  natural_steps_ = 1;
  if (chunks_.empty()) {
    natural_steps_ =
        blocks_.steps_that_fit(std::min(group_.steps_to_change(), line_steps_ - taken_steps_));
  } else if (restore_ns_ > 0) {
    wait_for_restore(now);
  }
  plan(!waiting_.empty() && head_may_join_next() ? 1 : natural_steps_);
}

// Where somebody was preempted after the queue was looked at, the head may fit now. If it does not
// at the next boundary, it never does in this segment.
bool SegmentReplica::head_may_join_next() const {
  if (!chunks_.empty() || rules_.drains) return false;
  if (rules_.expects_output) return !full_;
  if (!preempted_ || !has_seat()) return false;
  const WaitingQueue::Head head = waiting_.head();
  return head_fits_after(1, head);
}

void SegmentReplica::pause() {
  phase_ = Phase::kIdle;
  decodes_ = false;
  changed_ = true;
  wake_at_ = Instant::never();
}

std::int64_t SegmentReplica::step_ending_at(Instant at, std::int64_t limit) const {
  const std::int64_t step = segment_.first_step_ending_at(at, taken_steps_ + limit);
  return std::max<std::int64_t>(1, step - taken_steps_);
}

std::int64_t SegmentReplica::steps_ended_by(Instant now) const {
  if (!decodes_ || phase_ != Phase::kStep) return 0;
  // The step under way at `now` is the first that ends after it.
  return step_ending_at(now + Duration::nanos(1), planned_steps_) - 1;
}

TokenCount SegmentReplica::tokens_in_flight() const {
  TokenCount tokens = waiting_.tokens() + transferring_tokens_ + group_.requested_left();
  for (const Slot slot : partials_) {
    const Sequence& sequence = batch_[slot].sequence;
    tokens += sequence.target() - sequence.computed + sequence.requested_left();
  }
  return tokens;
}

ReplicaLoad SegmentReplica::load_at(Instant now) const {
  ReplicaLoad load{.queue_depth = waiting_.size(),
                   .running = running(),
                   .kv_blocks_held = blocks_.held(),
                   .tokens_in_flight = tokens_in_flight()};
  if (decodes_ && phase_ == Phase::kStep) {
    const std::int64_t ended = steps_ended_by(now);
    load.kv_blocks_held += blocks_.needed_for(ended + 1);
    load.tokens_in_flight -= group_.size() * ended;
  }
  return load;
}

// A step takes one token of each decoding sequence, whatever its number, so the k-th further step
// takes tokens in flight from T to T - k size. Chunks count when their step ends, at the wake-up.
TokenFloor SegmentReplica::token_floor(Instant now, TokenCount level) const {
  TokenCount tokens = tokens_in_flight();
  if (!decodes_ || phase_ != Phase::kStep) return {.tokens = tokens, .is_exact = true};
  const std::int64_t ended = steps_ended_by(now);
  tokens -= group_.size() * ended;
  const TokenCount slack = tokens > level ? (tokens - level) / 2 : 0;
  const std::int64_t more = std::min(slack / group_.size(), planned_steps_ - 1 - ended);
  const std::int64_t next = ended + more + 1;
  return {
      .tokens = tokens - group_.size() * more,
      .until = next < planned_steps_ ? segment_.time_after(taken_steps_ + next) : Instant::never(),
      .is_exact = more == 0};
}

// The last of the steps ends at the wake-up.
TokenRange SegmentReplica::token_range() const {
  const TokenCount tokens = tokens_in_flight();
  const bool decodes = decodes_ && phase_ == Phase::kStep;
  return {.least = tokens - (decodes ? group_.size() * (planned_steps_ - 1) : 0), .most = tokens};
}

std::unique_ptr<Replica> make_segment_replica(const ReplicaOptions& options,
                                              const ReplicaSurroundings& surroundings) {
  return std::make_unique<SegmentReplica>(options, surroundings);
}

}  // namespace inferscale
