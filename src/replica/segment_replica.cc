// The replica that advances from change to change.
//
// Between two changes of batch membership the decode steps form a DecodeSegment. A segment is
// planned with the number of steps after which something must happen: a sequence finishes, KV
// blocks run out, or the latency model's straight line ends. An arrival that can be admitted cuts
// it at the next step boundary; an arrival that cannot leaves it as it is, since inside a segment
// free blocks only get fewer. At a segment's end the sums (blocks, gaps, context) move on by the
// steps taken, and only sequences that join or leave are touched.
//
// Cost: for each change a few heap operations, logarithmic in the batch size, and at most
// kv_block_tokens additions; nothing for each token.

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "replica/batch.h"
#include "replica/finish_queue.h"
#include "replica/gap_tracker.h"
#include "replica/kv_blocks.h"
#include "replica/replica.h"
#include "replica/sequence.h"
#include "replica/waiting_queue.h"

namespace inferscale {
namespace {

class SegmentReplica final : public Replica {
 public:
  SegmentReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings)
      : options_(options),
        latency_(surroundings.latency),
        sink_(surroundings.sink),
        scheduler_(make_scheduler(options.scheduler, options.max_num_seqs)),
        blocks_(options.kv_blocks, options.layout.block_tokens),
        gaps_(options.itl_limit, surroundings.gaps),
        finishing_(static_cast<size_t>(options.max_num_seqs)) {}

  void enqueue(const Request& request) override;
  Instant next_wake() const override { return wake_at_; }
  void wake(Instant now) override;
  ReplicaLoad load_at(Instant now) const override;
  const ReplicaUsage& usage() const override { return usage_; }
  void enqueue_handoff(const Handoff&, Instant) override { CHECK(false) << "no roles yet"; }
  void transferred(RequestId, Instant) override { CHECK(false) << "no roles yet"; }
  void release(std::uint32_t, Instant) override { CHECK(false) << "no roles yet"; }
  std::vector<Request> fail(Instant) override { return {}; }
  void flush() override;
  const char* broken_invariant() const override;

 private:
  enum class Phase : std::uint8_t { kIdle, kPrefill, kDecode };

  std::int64_t running() const { return batch_.size(); }
  std::int64_t decoding() const { return static_cast<std::int64_t>(finishing_.size()); }
  // Tokens of a decoding sequence in the cache, at the last boundary.
  TokenCount cached_tokens(const Place& place) const;
  BlockCount blocks_to_admit_head() const;

  void end_prefill(Instant now);
  void end_decode(Instant now);
  void start_step(Instant now);
  bool start_prefill(Instant now);
  void start_decode(Instant now);
  void admit_head(Instant now, StepShape& shape);
  void join_decode(Slot slot, Instant now);
  void account_first_gaps();
  void preempt_last();
  void finish(Slot slot, Instant now);
  void account(Instant from, Instant to, double kv_block_ns);
  void forget_old_gaps();
  // Whether the head of the queue waits though the segment could have let it in.
  bool skips_head() const;

  const ReplicaOptions options_;
  const LatencyModel& latency_;
  ReplicaSink& sink_;
  std::unique_ptr<BatchScheduler> scheduler_;
  WaitingQueue waiting_;
  KvBlocks blocks_;
  GapTracker gaps_;
  FinishQueue finishing_;

  Batch batch_;
  std::vector<Slot> prefilling_;  // of the running prefill step
  std::vector<Slot> joiners_;     // decode from now on, but have not taken a decode step yet

  Phase phase_ = Phase::kIdle;
  Instant boundary_;  // when the running step or segment began
  Instant wake_at_ = Instant::never();
  DecodeSegment segment_;
  std::int64_t planned_steps_ = 0;
  std::int64_t decode_steps_ = 0;  // taken since the start
  Instant last_decode_end_;
  TokenCount context_ = 0;  // cached tokens of the decoding sequences
  ReplicaUsage usage_;
};

TokenCount SegmentReplica::cached_tokens(const Place& place) const {
  const std::int64_t remaining = place.finish_step - decode_steps_;
  return static_cast<TokenCount>(place.sequence.request.prompt_tokens) +
         place.sequence.request.output_tokens - remaining - 1;
}

BlockCount SegmentReplica::blocks_to_admit_head() const {
  if (!scheduler_->reserves_output()) return blocks_.blocks_for(waiting_.head_prefill_tokens());
  const Request& head = waiting_.head();
  return blocks_.blocks_for(static_cast<TokenCount>(head.prompt_tokens) + head.max_tokens);
}

void SegmentReplica::enqueue(const Request& request) {
  const RefusalReason reason = refusal_of(options_, request, waiting_.size());
  if (reason != RefusalReason::kNone) {
    sink_.record(request.id, outcome_of(request, OutcomeStatus::kRefused, reason));
    return;
  }
  const bool was_empty = waiting_.empty();
  waiting_.arrive(request);
  if (phase_ == Phase::kIdle) {
    wake_at_ = request.arrival;
    return;
  }
  usage_.queue_peak = std::max(usage_.queue_peak, waiting_.size());
  if (phase_ != Phase::kDecode || !was_empty || !scheduler_->takes_arrivals(running())) return;
  const std::int64_t step = segment_.first_step_ending_at(request.arrival, planned_steps_);
  if (step >= planned_steps_) return;
  if (blocks_.free() - blocks_.needed_for(step) < blocks_to_admit_head()) return;
  planned_steps_ = step;
  wake_at_ = segment_.time_after(step);
}

void SegmentReplica::wake(Instant now) {
  DCHECK(now == wake_at_);
  if (phase_ == Phase::kPrefill) end_prefill(now);
  if (phase_ == Phase::kDecode) end_decode(now);
  boundary_ = now;
  start_step(now);
  usage_.queue_peak = std::max(usage_.queue_peak, waiting_.size());
}

void SegmentReplica::account(Instant from, Instant to, double kv_block_ns) {
  const double ns = static_cast<double>((to - from).ns());
  usage_.busy_ns += ns;
  usage_.sequence_ns += ns * static_cast<double>(running());
  usage_.kv_block_ns += kv_block_ns;
}

void SegmentReplica::end_prefill(Instant now) {
  const double ns = static_cast<double>((now - boundary_).ns());
  account(boundary_, now, static_cast<double>(blocks_.held()) * ns);
  for (const Slot slot : prefilling_) {
    Sequence& sequence = batch_[slot].sequence;
    if (sequence.generated == 0) {
      sequence.first_token = now;
    } else {
      gaps_.judge(now - sequence.last_token, sequence.gaps);
    }
    ++sequence.generated;
    sequence.last_token = now;
    if (sequence.generated == sequence.request.output_tokens) {
      if (sequence.reserved == 0)
        blocks_.give_back(blocks_.blocks_for(sequence.prefill_tokens() - 1));
      finish(slot, now);
    } else {
      join_decode(slot, now);
    }
  }
  prefilling_.clear();
}

void SegmentReplica::join_decode(Slot slot, Instant) {
  Place& place = batch_[slot];
  const Sequence& sequence = place.sequence;
  place.finish_step = decode_steps_ + sequence.request.output_tokens - sequence.generated;
  finishing_.push(place.finish_step, slot);
  const TokenCount cached = cached_tokens(place);
  context_ += cached;
  if (sequence.reserved == 0) blocks_.start_growing(cached);
  joiners_.push_back(slot);
}

void SegmentReplica::end_decode(Instant now) {
  account(boundary_, now, blocks_.block_time(segment_, planned_steps_));
  account_first_gaps();
  gaps_.add_steps(segment_, 2, planned_steps_, decoding());
  blocks_.advance(planned_steps_);
  usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, blocks_.held());
  context_ += decoding() * planned_steps_;
  decode_steps_ += planned_steps_;
  usage_.decode_steps = decode_steps_;
  ++usage_.segments;
  last_decode_end_ = now;
  while (!finishing_.empty() && finishing_.first_step() == decode_steps_) {
    const Slot slot = finishing_.first_slot();
    Place& place = batch_[slot];
    const TokenCount cached = cached_tokens(place);
    context_ -= cached;
    if (place.sequence.reserved == 0) {
      blocks_.stop_growing(cached);
      blocks_.give_back(blocks_.blocks_for(cached));
    }
    gaps_.leave(place.sequence.gaps);
    finishing_.remove(slot);
    finish(slot, now);
  }
}

void SegmentReplica::finish(Slot slot, Instant now) {
  const Sequence& sequence = batch_[slot].sequence;
  if (sequence.reserved > 0) blocks_.give_back(sequence.reserved);
  sink_.record(sequence.request.id, outcome_of(sequence, OutcomeStatus::kFinished, now));
  batch_.release(slot);
}

void SegmentReplica::start_step(Instant now) {
  scheduler_->at_boundary(running(), waiting_.size());
  if (start_prefill(now)) return;
  if (running() > 0) {
    start_decode(now);
    return;
  }
  CHECK(waiting_.empty()) << "an empty replica can't admit request " << waiting_.head().id;
  phase_ = Phase::kIdle;
  wake_at_ = Instant::never();
}

bool SegmentReplica::start_prefill(Instant now) {
  StepShape shape;
  while (!waiting_.empty() && scheduler_->is_open()) {
    const TokenCount tokens = waiting_.head_prefill_tokens();
    if (shape.prefill_sequences > 0 &&
        shape.prefill_tokens + tokens > options_.max_num_batched_tokens) {
      break;
    }
    if (blocks_to_admit_head() > blocks_.free()) {
      scheduler_->head_blocked();
      break;
    }
    admit_head(now, shape);
  }
  if (shape.prefill_sequences == 0) return false;
  phase_ = Phase::kPrefill;
  ++usage_.prefill_steps;
  usage_.running_peak = std::max(usage_.running_peak, running());
  usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, blocks_.held());
  wake_at_ = DecodeSegment(now, latency_.cost(shape)).time_after(1);
  return true;
}

void SegmentReplica::admit_head(Instant now, StepShape& shape) {
  const BlockCount needed = blocks_to_admit_head();
  const Slot slot = batch_.take();
  Sequence& sequence = batch_[slot].sequence;
  sequence = waiting_.pop();
  blocks_.take(needed);
  if (scheduler_->reserves_output()) sequence.reserved = needed;
  if (sequence.start == Instant::never()) sequence.start = now;
  if (sequence.generated > 0) usage_.recomputed_tokens += sequence.prefill_tokens();
  scheduler_->admitted();
  prefilling_.push_back(slot);
  const TokenCount tokens = sequence.prefill_tokens();
  ++shape.prefill_sequences;
  shape.prefill_tokens += tokens;
  shape.prefill_pairs += 0.5 * static_cast<double>(tokens) * static_cast<double>(tokens + 1);
}

void SegmentReplica::start_decode(Instant now) {
  while (blocks_.steps_that_fit(1) == 0) preempt_last();
  const StepShape shape{.decode_sequences = decoding(), .decode_context = context_ + decoding()};
  const StepCost cost = latency_.cost(shape);
  phase_ = Phase::kDecode;
  segment_ = DecodeSegment(now, cost);
  const std::int64_t limit = std::min(finishing_.first_step() - decode_steps_, cost.valid_steps);
  planned_steps_ = blocks_.steps_that_fit(limit);
  wake_at_ = segment_.time_after(planned_steps_);
}

void SegmentReplica::account_first_gaps() {
  const Instant first_end = segment_.time_after(1);
  const std::int64_t sharing = decoding() - static_cast<std::int64_t>(joiners_.size());
  if (sharing > 0) gaps_.add(first_end - last_decode_end_, sharing);
  for (const Slot slot : joiners_) {
    Place& place = batch_[slot];
    gaps_.judge(first_end - place.sequence.last_token, place.sequence.gaps);
    gaps_.join(place.sequence.gaps);
    place.shares_gaps = true;
  }
  joiners_.clear();
  if (gaps_.wants_forgetting(static_cast<size_t>(running()))) forget_old_gaps();
}

void SegmentReplica::forget_old_gaps() {
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    oldest = std::min(oldest, batch_[slot].sequence.gaps.time_mark);
  }
  gaps_.forget_before(oldest);
}

void SegmentReplica::preempt_last() {
  const Slot slot = batch_.last_admitted();
  CHECK(running() > 1) << "the KV cache is too small for the one sequence in it";
  Place& place = batch_[slot];
  const TokenCount cached = cached_tokens(place);
  blocks_.stop_growing(cached);
  blocks_.give_back(blocks_.blocks_for(cached));
  context_ -= cached;
  Sequence& sequence = place.sequence;
  sequence.generated = sequence.request.output_tokens -
                       static_cast<std::uint32_t>(place.finish_step - decode_steps_);
  ++sequence.preemptions;
  if (place.shares_gaps) {
    gaps_.leave(sequence.gaps);
    sequence.last_token = last_decode_end_;
  } else {
    CHECK(joiners_.back() == slot) << "the last admitted is not the last joiner";
    joiners_.pop_back();
  }
  finishing_.remove(slot);
  waiting_.preempt(sequence);
  ++usage_.preemptions;
  batch_.release(slot);
}

ReplicaLoad SegmentReplica::load_at(Instant now) const {
  ReplicaLoad load{
      .queue_depth = waiting_.size(), .running = running(), .kv_blocks_held = blocks_.held()};
  if (phase_ == Phase::kDecode) {
    // The step under way at `now` is the first that ends after it.
    const std::int64_t step =
        segment_.first_step_ending_at(now + Duration::nanos(1), planned_steps_);
    load.kv_blocks_held += blocks_.needed_for(step);
  }
  return load;
}

void SegmentReplica::flush() {
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    Sequence& sequence = batch_[slot].sequence;
    if (batch_[slot].shares_gaps) gaps_.leave(sequence.gaps);
    sink_.record(sequence.request.id,
                 outcome_of(sequence, OutcomeStatus::kUnfinished, Instant::never()));
  }
  while (!waiting_.empty()) {
    const Sequence sequence = waiting_.pop();
    sink_.record(sequence.request.id,
                 outcome_of(sequence, OutcomeStatus::kUnfinished, Instant::never()));
  }
}

const char* SegmentReplica::broken_invariant() const {
  if (running() > options_.max_num_seqs) return "INV-4: more sequences run than max_num_seqs";
  if (blocks_.held() + blocks_.free() != blocks_.total()) return "INV-4: KV blocks do not add up";
  BlockCount held = 0;
  for (Slot slot = batch_.last_admitted(); slot != kNoSlot; slot = batch_[slot].previous) {
    const Place& place = batch_[slot];
    const bool in_prefill =
        std::find(prefilling_.begin(), prefilling_.end(), slot) != prefilling_.end();
    if (place.sequence.reserved > 0) {
      held += place.sequence.reserved;
    } else {
      held +=
          blocks_.blocks_for(in_prefill ? place.sequence.prefill_tokens() : cached_tokens(place));
    }
  }
  if (held != blocks_.held()) return "INV-4: the sequences' KV blocks are not those held";
  if (phase_ == Phase::kIdle && wake_at_ == Instant::never() && !waiting_.empty()) {
    return "INV-5: the replica idles while requests wait";
  }
  if (skips_head()) return "INV-5: a request waits that could be admitted";
  return nullptr;
}

bool SegmentReplica::skips_head() const {
  if (phase_ != Phase::kDecode || waiting_.empty()) return false;
  if (!scheduler_->takes_arrivals(running())) return false;
  // At the boundary it competed with the first step's blocks; who came later, with those of the
  // steps up to the next boundary.
  const Instant arrival = waiting_.head().arrival;
  const bool was_there = arrival <= boundary_;
  const std::int64_t steps = was_there ? 1 : segment_.first_step_ending_at(arrival, planned_steps_);
  if (!was_there && steps == planned_steps_) return false;
  return blocks_to_admit_head() <= blocks_.free() - blocks_.needed_for(steps);
}

}  // namespace

std::unique_ptr<Replica> make_segment_replica(const ReplicaOptions& options,
                                              const ReplicaSurroundings& surroundings) {
  return std::make_unique<SegmentReplica>(options, surroundings);
}

}  // namespace inferscale
