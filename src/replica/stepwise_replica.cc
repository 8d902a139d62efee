// Moves the time of the single-stepping replica (stepwise/stepwise_replica.h): one step after the
// other, one sequence after the other.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "replica/stepwise/steps.h"
#include "replica/stepwise/stepwise_replica.h"

namespace inferscale {

StepwiseReplica::StepwiseReplica(const ReplicaOptions& options,
                                 const ReplicaSurroundings& surroundings)
    : state_(options),
      latency_(surroundings.latency),
      sink_(surroundings.sink),
      gaps_(surroundings.gaps) {
  state_.usage.kv_blocks_peak = state_.held_blocks();
}

void StepwiseReplica::record(RequestId id, Outcome outcome) {
  outcome.replica = state_.options.index;
  sink_.record(id, outcome);
}

void StepwiseReplica::enqueue(const Request& request) {
  CHECK(state_.options.role != ReplicaRole::kDecode) << "request " << request.id;
  const Reason reason = refusal_of(state_.options, request, state_.waiting.size());
  if (reason != Reason::kNone) {
    record(request.id, outcome_of(request, OutcomeStatus::kRefused, reason));
    return;
  }
  state_.waiting.arrive(request);
  entered(request.arrival);
}

// Who finds the replica idle and is admitted at once has not waited.
void StepwiseReplica::entered(Instant now) {
  undisturbed_ = false;
  if (running_) {
    state_.usage.queue_peak = std::max(state_.usage.queue_peak, state_.waiting.size());
  } else {
    wake_at_ = now;
  }
}

// The integrals go on to `now`, over what is there and has been since the last boundary.
void StepwiseReplica::account(Instant now) {
  const double ns = static_cast<double>((now - accounted_).ns());
  accounted_ = now;
  ReplicaUsage& usage = state_.usage;
  if (running_) usage.busy_ns += ns;
  usage.sequence_ns += ns * static_cast<double>(state_.batch_size());
  usage.kv_block_ns += ns * static_cast<double>(state_.held_blocks());
}

void StepwiseReplica::take_for_step() {
  state_.pass_time(accounted_);
  state_.take_for_decodes();
}

void StepwiseReplica::wake(Instant now) {
  take_for_step();
  account(now);
  state_.pass_time(now);
  if (running_) end_step(now);
  dismiss_leavers(now);
  take_transferred();
  state_.preempted = false;
  undisturbed_ = true;
  if (state_.rules.expects_output) {
    plan_expecting_step(state_, now, sink_);
  } else if (state_.rules.mixed) {
    plan_mixed_step(state_, now, sink_);
  } else {
    plan_separate_step(state_, now, sink_);
  }
  start_step(now);
  ReplicaUsage& usage = state_.usage;
  usage.running_peak = std::max(usage.running_peak, state_.batch_size());
  usage.kv_blocks_peak = std::max(usage.kv_blocks_peak, state_.held_blocks());
  usage.queue_peak = std::max(usage.queue_peak, state_.waiting.size());
}

void StepwiseReplica::end_step(Instant now) {
  const bool decoded = std::any_of(state_.batch.begin(), state_.batch.end(),
                                   [](const Member& member) { return member.decodes; });
  if (decoded) ++state_.usage.decode_steps;
  if (!state_.chunks.empty()) ++state_.usage.prefill_steps;
  ++segment_steps_;
  if (decoded && segment_steps_ == 1) ++state_.usage.segments;
  end_decodes(now);
  end_chunks(now);
  running_ = false;
}

void StepwiseReplica::end_decodes(Instant now) {
  for (Member& member : state_.batch) {
    if (member.decodes) ++member.sequence.computed;
  }
  for (auto next = state_.batch.begin(); next != state_.batch.end();) {
    Member& member = *next++;
    if (std::exchange(member.decodes, false) && emit(member.sequence, now)) finish(member, now);
  }
}

void StepwiseReplica::end_chunks(Instant now) {
  for (Member* member : std::exchange(state_.chunks, {})) {
    Sequence& sequence = member->sequence;
    sequence.computed += std::exchange(member->chunk, 0);
    state_.publish(*member);
    if (sequence.computed < sequence.target()) continue;
    if (emit(sequence, now)) {
      finish(*member, now);
    } else if (state_.options.role == ReplicaRole::kPrefill && !member->leaves) {
      hand_over(*member);
    } else {
      member->stage = Stage::kDecoding;
    }
  }
}

bool StepwiseReplica::emit(Sequence& sequence, Instant now) {
  if (sequence.generated == 0) {
    sequence.first_token = now;
    if (state_.options.tells_first_tokens) sink_.first_token(sequence.request.id, now);
  } else {
    const Duration gap = now - sequence.last_token;
    gaps_.add(gap, 1);
    const std::optional<Duration>& limit = itl_limit_of(state_.options, sequence.request);
    if (limit && gap > *limit) ++sequence.gaps.over;
    sequence.gaps.longest = std::max(sequence.gaps.longest, gap);
  }
  sequence.last_token = now;
  ++sequence.generated;
  return sequence.generated == sequence.request.output_tokens;
}

void StepwiseReplica::finish(Member& member, Instant now) {
  state_.give_back(member);
  state_.end_call(member.sequence, now);
  record(member.id(), member.leaves ? abandoned_outcome(member.sequence)
                                    : outcome_of(member.sequence, OutcomeStatus::kFinished, now));
  state_.remove(member);
}

StepwiseReplica::Members StepwiseReplica::members() const {
  Members members;
  for (const Member& member : state_.batch) {
    members.emplace_back(member.admission, member.stage == Stage::kDecoding);
  }
  return members;
}

// Whether the step belongs to the segment of the one before.
bool StepwiseReplica::goes_on(const Members& now_in) const {
  if (segment_steps_ >= segment_valid_ || now_in != segment_members_) return false;
  const TokenCount window = state_.options.layout.window_tokens;
  return window == 0 ||
         std::none_of(state_.batch.begin(), state_.batch.end(), [&](const Member& member) {
           return member.decodes && member.sequence.computed == window;
         });
}

void StepwiseReplica::start_step(Instant now) {
  const StepShape shape = state_.shape_of_step();
  running_ = shape.decode_sequences + shape.prefill_sequences > 0;
  if (!running_) {
    CHECK(state_.waiting.empty() || !state_.batch.empty() || !state_.parked.empty())
        << "an empty replica can't admit request " << state_.waiting.head().request->id;
    segment_valid_ = 0;
    wake_at_ = Instant::never();
    return;
  }
  Members now_in = members();
  const bool chunked = shape.prefill_sequences > 0;
  if (chunked || !goes_on(now_in)) {
    StepCost cost = latency_.cost(shape);
    cost.first_ns += std::exchange(state_.restore_ns, 0);
    segment_ = DecodeSegment(now, cost);
    segment_steps_ = 0;
    segment_valid_ = chunked ? 1 : cost.valid_steps;
    segment_members_ = std::move(now_in);
  }
  wake_at_ = segment_.time_after(segment_steps_ + 1);
}

ReplicaLoad StepwiseReplica::load_at(Instant) const {
  return {.queue_depth = state_.waiting.size(),
          .running = state_.batch_size(),
          .kv_blocks_held = state_.held_blocks(),
          .tokens_in_flight = state_.tokens_in_flight()};
}

// Between wake-ups nothing changes.
TokenFloor StepwiseReplica::token_floor(Instant now, TokenCount) const {
  return {.tokens = load_at(now).tokens_in_flight, .is_exact = true};
}

std::unique_ptr<Replica> make_stepwise_replica(const ReplicaOptions& options,
                                               const ReplicaSurroundings& surroundings) {
  return std::make_unique<StepwiseReplica>(options, surroundings);
}

}  // namespace inferscale
