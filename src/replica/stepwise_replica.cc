// The replica that takes every step and looks at every sequence: the oracle for segment_replica.cc.
//
// Nothing is kept in sums: at each boundary blocks, tokens and needs are added up sequence by
// sequence, and each token and each gap is counted when it comes. What it shares with the other
// replica is the table of schedulers, the order of the queue, the prefix cache, the latency model,
// and the rule by which a step's end follows from the start of its segment. A segment is a run of
// steps without chunks over an unchanged batch; it starts anew when the latency model's line ends,
// or when a decoding sequence has just filled the attention window.

#include "replica/replica.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "replica/decode_segment.h"
#include "replica/stepwise/state.h"
#include "replica/stepwise/steps.h"

namespace inferscale {
namespace {

class StepwiseReplica final : public Replica {
 public:
  StepwiseReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings)
      : state_(options),
        latency_(surroundings.latency),
        sink_(surroundings.sink),
        gaps_(surroundings.gaps) {
    state_.usage.kv_blocks_peak = state_.held_blocks();
  }

  void enqueue(const Request& request) override;
  Instant next_wake() const override { return wake_at_; }
  void wake(Instant now) override;
  void enqueue_handoff(const Handoff& handoff, Instant now) override;
  void transferred(RequestId id, Instant now) override;
  void withdraw(RequestId id, Instant now) override;
  void release(std::uint32_t ticket, Instant now) override;
  std::vector<Request> fail(Instant now) override;
  ReplicaLoad load_at(Instant now) const override;
  TokenFloor token_floor(Instant now, TokenCount slack) const override;
  const ReplicaUsage& usage() const override { return state_.usage; }
  void end_chain(const Request& request, Instant now) override { state_.end_chain(request, now); }
  void settle(Instant now) override {
    take_for_step();
    state_.pass_time(now);
  }
  void flush() override;
  const char* broken_invariant() const override;

 private:
  // Who is in the batch, by admission, and whether it decodes.
  using Members = std::vector<std::pair<std::int64_t, bool>>;

  // Somebody joined the queue.
  void entered(Instant now);
  void account(Instant now);
  // What the decodes of the step under way write into is theirs since it began.
  void take_for_step();
  void give_back_between(Member& member, Instant now);
  void take_transferred();
  void end_step(Instant now);
  void end_decodes(Instant now);
  void end_chunks(Instant now);
  // Gives the sequence its next token. True: it was the last.
  bool emit(Sequence& sequence, Instant now);
  void finish(Member& member, Instant now);
  void hand_over(Member& member);
  void start_step(Instant now);
  Members members() const;
  bool goes_on(const Members& now_in) const;
  void record(RequestId id, Outcome outcome);

  StepwiseState state_;
  const LatencyModel& latency_;
  ReplicaSink& sink_;
  DurationHistogram& gaps_;

  bool running_ = false;            // a step is under way
  bool undisturbed_ = true;         // nothing came from outside since the last boundary
  std::vector<RequestId> arrived_;  // transfers since the last boundary
  Instant wake_at_ = Instant::never();
  Instant accounted_;  // integrals are up to here
  DecodeSegment segment_;
  std::int64_t segment_steps_ = 0;  // that have ended; 0 with valid 0: there is no segment
  std::int64_t segment_valid_ = 0;
  Members segment_members_;
  std::uint32_t next_ticket_ = 0;
};

void StepwiseReplica::record(RequestId id, Outcome outcome) {
  outcome.replica = state_.options.index;
  sink_.record(id, outcome);
}

void StepwiseReplica::enqueue(const Request& request) {
  CHECK(state_.options.role != ReplicaRole::kDecode) << "request " << request.id;
  const RefusalReason reason = refusal_of(state_.options, request, state_.waiting.size());
  if (reason != RefusalReason::kNone) {
    record(request.id, outcome_of(request, OutcomeStatus::kRefused, reason));
    return;
  }
  state_.waiting.arrive(request);
  entered(request.arrival);
}

void StepwiseReplica::enqueue_handoff(const Handoff& handoff, Instant now) {
  CHECK(state_.options.role == ReplicaRole::kDecode) << "request " << handoff.request.id;
  state_.waiting.hand_over(handoff);
  entered(now);
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

void StepwiseReplica::transferred(RequestId id, Instant now) {
  Member* member = state_.find(id);
  CHECK(member != nullptr && member->stage == Stage::kTransferring) << "request " << id;
  arrived_.push_back(id);
  undisturbed_ = false;
  if (!running_) wake_at_ = now;
}

void StepwiseReplica::withdraw(RequestId id, Instant now) {
  if (Member* member = state_.find(id); member != nullptr) {
    CHECK(member->stage == Stage::kTransferring) << "request " << id;
    give_back_between(*member, now);
    state_.usage.sequence_ns += static_cast<double>((now - accounted_).ns());
    state_.remove(*member);
  } else {
    state_.waiting.withdraw(id);
  }
  state_.full = false;
  undisturbed_ = false;
  if (!running_) wake_at_ = now;
}

void StepwiseReplica::release(std::uint32_t ticket, Instant now) {
  const auto one = std::find_if(state_.parked.begin(), state_.parked.end(),
                                [&](const Parked& parked) { return parked.ticket == ticket; });
  CHECK(one != state_.parked.end()) << "ticket " << ticket;
  give_back_between(one->member, now);
  state_.parked.erase(one);
  state_.full = false;
  undisturbed_ = false;
  if (!running_) wake_at_ = now;
}

// Blocks that go between two boundaries were held until now; account() will not see them any more.
void StepwiseReplica::give_back_between(Member& member, Instant now) {
  const BlockCount before = state_.held_blocks();
  state_.give_back(member);
  state_.usage.kv_block_ns += static_cast<double>(before - state_.held_blocks()) *
                              static_cast<double>((now - accounted_).ns());
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

// What has arrived since the last boundary is there and decodes from now on.
void StepwiseReplica::take_transferred() {
  for (const RequestId id : std::exchange(arrived_, {})) {
    Member& member = *state_.find(id);
    member.stage = Stage::kDecoding;
    member.sequence.computed = member.sequence.request.prompt_tokens;
    state_.publish(member);
  }
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
    } else if (state_.options.role == ReplicaRole::kPrefill) {
      hand_over(*member);
    } else {
      member->stage = Stage::kDecoding;
    }
  }
}

bool StepwiseReplica::emit(Sequence& sequence, Instant now) {
  if (sequence.generated == 0) {
    sequence.first_token = now;
  } else {
    const Duration gap = now - sequence.last_token;
    gaps_.add(gap, 1);
    const std::optional<Duration>& limit = state_.options.itl_limit;
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
  record(member.id(), outcome_of(member.sequence, OutcomeStatus::kFinished, now));
  state_.remove(member);
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

std::vector<Request> StepwiseReplica::fail(Instant now) {
  take_for_step();
  account(now);
  state_.pass_time(now);
  running_ = false;
  undisturbed_ = true;
  segment_valid_ = 0;
  arrived_.clear();
  wake_at_ = Instant::never();
  return state_.clear(now);
}

ReplicaLoad StepwiseReplica::load_at(Instant) const {
  ReplicaLoad load{.queue_depth = state_.waiting.size(),
                   .running = state_.batch_size(),
                   .kv_blocks_held = state_.held_blocks(),
                   .tokens_in_flight = state_.waiting.tokens()};
  for (const Member& member : state_.batch) {
    const Sequence& sequence = member.sequence;
    load.tokens_in_flight += sequence.requested_left();
    if (member.stage == Stage::kPartial) {
      load.tokens_in_flight += sequence.target() - sequence.computed;
    }
  }
  return load;
}

// Between wake-ups nothing changes.
TokenFloor StepwiseReplica::token_floor(Instant now, TokenCount) const {
  return {.tokens = load_at(now).tokens_in_flight, .is_exact = true};
}

void StepwiseReplica::flush() {
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

}  // namespace

std::unique_ptr<Replica> make_stepwise_replica(const ReplicaOptions& options,
                                               const ReplicaSurroundings& surroundings) {
  return std::make_unique<StepwiseReplica>(options, surroundings);
}

}  // namespace inferscale
