// The replica that takes every step and looks at every sequence: the oracle for segment_replica.cc.
//
// Nothing is kept in sums: at each boundary blocks, tokens and needs are added up sequence by
// sequence, and each token and each gap is counted when it comes. What it shares with the other
// replica is the table of schedulers, the order of the queue, the prefix cache, the latency model,
// and the rule by which a step's end follows from the start of its segment. A segment is a run of
// steps without chunks over an unchanged batch; it starts anew when the latency model's line ends,
// or when a decoding sequence has just filled the attention window.
//
// The class is in two files: stepwise_replica.cc moves time, stepwise/custody.cc has hand-overs,
// callers who go, failures, the end of a run, and what must hold.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replica/decode_segment.h"
#include "replica/replica.h"
#include "replica/stepwise/state.h"

namespace inferscale {

class StepwiseReplica final : public Replica {
 public:
  StepwiseReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings);

  void enqueue(const Request& request) override;
  Instant next_wake() const override { return wake_at_; }
  void wake(Instant now) override;
  void enqueue_handoff(const Handoff& handoff, Instant now) override;
  void transferred(RequestId id, Instant now) override;
  void withdraw(RequestId id, Instant now) override;
  void release(std::uint32_t ticket, Instant now) override;
  bool cancel(RequestId id, Instant now) override;
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
  // Something came from outside: a boundary, if no step is under way.
  void disturb(Instant now) {
    undisturbed_ = false;
    if (!running_) wake_at_ = now;
  }
  // Those whose callers have gone leave the batch.
  void dismiss_leavers(Instant now);
  // The same where the replica comes to its end.
  void record_leavers();
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

}  // namespace inferscale
