// The replica that takes every step and looks at every sequence: the oracle for segment_replica.cc.
//
// Nothing is kept in sums. At each boundary the blocks are added up sequence by sequence, each
// token is counted, each gap is kept. What it shares with the other replica is the scheduler, the
// latency model, and the rule by which a step's end follows from the start of its segment (a
// segment starts anew when the batch changes its members or the latency model's line ends).

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "replica/decode_segment.h"
#include "replica/replica.h"
#include "replica/sequence.h"
#include "replica/waiting_queue.h"

namespace inferscale {
namespace {

struct Member {
  Sequence sequence;
  TokenCount cached = 0;
  std::vector<Duration> gaps;
};

class StepwiseReplica final : public Replica {
 public:
  StepwiseReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings)
      : options_(options),
        latency_(surroundings.latency),
        sink_(surroundings.sink),
        scheduler_(make_scheduler(options.scheduler, options.max_num_seqs)),
        population_(surroundings.gaps) {}

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

  BlockCount blocks_for(TokenCount tokens) const;
  BlockCount held() const;
  BlockCount blocks_to_admit_head() const;
  std::int64_t batch_size() const {
    return static_cast<std::int64_t>(batch_.size() + prefilling_.size());
  }
  void end_step(Instant now);
  void emit_token(Member& member, Instant now);
  void fold_gaps(Member& member) const;
  void retire_finished(Instant now);
  bool start_prefill(Instant now);
  void start_decode_step(Instant now);
  void preempt_until_step_fits();

  const ReplicaOptions options_;
  const LatencyModel& latency_;
  ReplicaSink& sink_;
  std::unique_ptr<BatchScheduler> scheduler_;
  WaitingQueue waiting_;
  std::vector<Member> batch_;  // decoding, in order of admission
  std::vector<Member> prefilling_;

  Phase phase_ = Phase::kIdle;
  Instant boundary_;
  Instant wake_at_ = Instant::never();
  bool membership_changed_ = true;
  DecodeSegment segment_;
  std::int64_t segment_steps_ = 0;  // taken in the running segment
  std::int64_t segment_valid_ = 0;
  ReplicaUsage usage_;
  DurationHistogram& population_;
};

BlockCount StepwiseReplica::blocks_for(TokenCount tokens) const {
  BlockCount blocks = tokens / options_.layout.block_tokens;
  if (tokens % options_.layout.block_tokens != 0) ++blocks;
  return blocks;
}

BlockCount StepwiseReplica::held() const {
  BlockCount sum = 0;
  for (const std::vector<Member>* group : {&batch_, &prefilling_}) {
    for (const Member& member : *group) {
      sum += member.sequence.reserved > 0 ? member.sequence.reserved : blocks_for(member.cached);
    }
  }
  return sum;
}

BlockCount StepwiseReplica::blocks_to_admit_head() const {
  const Request& head = waiting_.head();
  return blocks_for(scheduler_->reserves_output()
                        ? static_cast<TokenCount>(head.prompt_tokens) + head.max_tokens
                        : waiting_.head_prefill_tokens());
}

void StepwiseReplica::enqueue(const Request& request) {
  const RefusalReason reason = refusal_of(options_, request, waiting_.size());
  if (reason != RefusalReason::kNone) {
    sink_.record(request.id, outcome_of(request, OutcomeStatus::kRefused, reason));
    return;
  }
  waiting_.arrive(request);
  if (phase_ == Phase::kIdle) {
    wake_at_ = request.arrival;
  } else {
    usage_.queue_peak = std::max(usage_.queue_peak, waiting_.size());
  }
}

void StepwiseReplica::wake(Instant now) {
  end_step(now);
  boundary_ = now;
  scheduler_->at_boundary(batch_size(), waiting_.size());
  if (start_prefill(now)) {
    phase_ = Phase::kPrefill;
  } else if (!batch_.empty()) {
    start_decode_step(now);
    phase_ = Phase::kDecode;
  } else {
    CHECK(waiting_.empty()) << "an empty replica can't admit request " << waiting_.head().id;
    phase_ = Phase::kIdle;
    wake_at_ = Instant::never();
  }
  usage_.queue_peak = std::max(usage_.queue_peak, waiting_.size());
}

void StepwiseReplica::end_step(Instant now) {
  if (phase_ == Phase::kIdle) return;
  const double ns = static_cast<double>((now - boundary_).ns());
  usage_.busy_ns += ns;
  usage_.sequence_ns += ns * static_cast<double>(batch_size());
  usage_.kv_block_ns += ns * static_cast<double>(held());
  if (phase_ == Phase::kPrefill) {
    for (Member& member : prefilling_) {
      emit_token(member, now);
      batch_.push_back(std::move(member));
    }
    prefilling_.clear();
    membership_changed_ = true;
  } else {
    ++usage_.decode_steps;
    ++segment_steps_;
    for (Member& member : batch_) emit_token(member, now);
  }
  retire_finished(now);
}

void StepwiseReplica::emit_token(Member& member, Instant now) {
  Sequence& sequence = member.sequence;
  if (sequence.generated == 0) {
    sequence.first_token = now;
  } else {
    const Duration gap = now - sequence.last_token;
    member.gaps.push_back(gap);
    population_.add(gap, 1);
  }
  sequence.last_token = now;
  ++sequence.generated;
}

// Judges the gaps of this stay in the batch; those before a preemption are in the record already.
void StepwiseReplica::fold_gaps(Member& member) const {
  GapRecord& record = member.sequence.gaps;
  for (const Duration gap : member.gaps) {
    if (options_.itl_limit && gap > *options_.itl_limit) ++record.over;
    record.longest = std::max(record.longest, gap);
  }
}

void StepwiseReplica::retire_finished(Instant now) {
  for (Member& member : batch_) {
    Sequence& sequence = member.sequence;
    if (sequence.generated < sequence.request.output_tokens) continue;
    fold_gaps(member);
    sink_.record(sequence.request.id, outcome_of(sequence, OutcomeStatus::kFinished, now));
    membership_changed_ = true;
  }
  std::erase_if(batch_, [](const Member& member) {
    return member.sequence.generated == member.sequence.request.output_tokens;
  });
}

bool StepwiseReplica::start_prefill(Instant now) {
  StepShape shape;
  while (!waiting_.empty() && scheduler_->is_open()) {
    const TokenCount tokens = waiting_.head_prefill_tokens();
    if (!prefilling_.empty() && shape.prefill_tokens + tokens > options_.max_num_batched_tokens) {
      break;
    }
    const BlockCount needed = blocks_to_admit_head();
    if (held() + needed > options_.kv_blocks) {
      scheduler_->head_blocked();
      break;
    }
    Member member{.sequence = waiting_.pop(), .cached = tokens, .gaps = {}};
    if (scheduler_->reserves_output()) member.sequence.reserved = needed;
    if (member.sequence.start == Instant::never()) member.sequence.start = now;
    if (member.sequence.generated > 0) usage_.recomputed_tokens += tokens;
    scheduler_->admitted();
    prefilling_.push_back(std::move(member));
    ++shape.prefill_sequences;
    shape.prefill_tokens += tokens;
    shape.prefill_pairs += 0.5 * static_cast<double>(tokens) * static_cast<double>(tokens + 1);
  }
  if (prefilling_.empty()) return false;
  ++usage_.prefill_steps;
  usage_.running_peak = std::max(usage_.running_peak, batch_size());
  usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, held());
  wake_at_ = DecodeSegment(now, latency_.cost(shape)).time_after(1);
  return true;
}

void StepwiseReplica::preempt_until_step_fits() {
  while (true) {
    BlockCount after_step = 0;
    for (const Member& member : batch_) {
      after_step +=
          member.sequence.reserved > 0 ? member.sequence.reserved : blocks_for(member.cached + 1);
    }
    if (after_step <= options_.kv_blocks) return;
    CHECK(batch_.size() > 1) << "the KV cache is too small for the one sequence in it";
    Member victim = std::move(batch_.back());
    batch_.pop_back();
    fold_gaps(victim);
    ++victim.sequence.preemptions;
    ++usage_.preemptions;
    waiting_.preempt(victim.sequence);
    membership_changed_ = true;
  }
}

void StepwiseReplica::start_decode_step(Instant now) {
  preempt_until_step_fits();
  for (Member& member : batch_) ++member.cached;
  usage_.kv_blocks_peak = std::max(usage_.kv_blocks_peak, held());
  if (membership_changed_ || segment_steps_ == segment_valid_) {
    StepShape shape;
    for (const Member& member : batch_) {
      ++shape.decode_sequences;
      shape.decode_context += member.cached;
    }
    const StepCost cost = latency_.cost(shape);
    segment_ = DecodeSegment(now, cost);
    segment_steps_ = 0;
    segment_valid_ = cost.valid_steps;
    membership_changed_ = false;
    ++usage_.segments;
  }
  wake_at_ = segment_.time_after(segment_steps_ + 1);
}

ReplicaLoad StepwiseReplica::load_at(Instant) const {
  return {.queue_depth = waiting_.size(), .running = batch_size(), .kv_blocks_held = held()};
}

void StepwiseReplica::flush() {
  for (std::vector<Member>* group : {&batch_, &prefilling_}) {
    for (Member& member : *group) {
      fold_gaps(member);
      sink_.record(member.sequence.request.id,
                   outcome_of(member.sequence, OutcomeStatus::kUnfinished, Instant::never()));
    }
  }
  while (!waiting_.empty()) {
    const Sequence sequence = waiting_.pop();
    sink_.record(sequence.request.id,
                 outcome_of(sequence, OutcomeStatus::kUnfinished, Instant::never()));
  }
}

const char* StepwiseReplica::broken_invariant() const {
  if (batch_size() > options_.max_num_seqs) return "INV-4: more sequences run than max_num_seqs";
  if (held() > options_.kv_blocks) return "INV-4: more KV blocks are held than there are";
  if (phase_ == Phase::kIdle && wake_at_ == Instant::never() && !waiting_.empty()) {
    return "INV-5: the replica idles while requests wait";
  }
  if (phase_ == Phase::kDecode && !waiting_.empty() && waiting_.head().arrival <= boundary_ &&
      scheduler_->takes_arrivals(batch_size()) &&
      held() + blocks_to_admit_head() <= options_.kv_blocks) {
    return "INV-5: a request waits that could be admitted";
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Replica> make_stepwise_replica(const ReplicaOptions& options,
                                               const ReplicaSurroundings& surroundings) {
  return std::make_unique<StepwiseReplica>(options, surroundings);
}

}  // namespace inferscale
