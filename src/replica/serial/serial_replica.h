// A serial station: it serves one call after the other, in order of arrival, and keeps the KV
// caches of chains between their calls. The reference for what sessions do to a replica, with the
// effects of batching left out (docs/serial_station.md).
//
//   service = [rest of its move out] + [restore] + prefill of what is not in its chain's entry
//             + decode steps of the further output tokens, at batch size 1
//
//   idle --a call waits, and fits--> prefilling --first token--> decoding --last token--> idle
//
// The whole of a service is known at its start. It is taken in stretches: what is moved together
// with the prefill is one, and each run of decode steps with one straight line of costs. Cost: a
// few look-ups of a chain for each call.
//
// serial_replica.cc moves time and serves; serial_kv.cc has what a call finds and leaves;
// serial_end.cc has failures, callers who go, the end of a run and what must hold.

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "replica/decode_segment.h"
#include "replica/gap_tracker.h"
#include "replica/host_tier.h"
#include "replica/replica.h"
#include "replica/sequence.h"
#include "replica/serial/session_store.h"
#include "replica/step_notes.h"

namespace inferscale {

class SerialReplica final : public Replica {
 public:
  SerialReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings);

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
  TokenFloor token_floor(Instant now, TokenCount level) const override;
  TokenRange token_range() const override;
  const ReplicaUsage& usage() const override { return usage_; }
  void end_chain(const Request& request, Instant now) override;
  void settle(Instant now) override;
  void flush() override;
  const char* broken_invariant() const override;

 private:
  enum class Phase : std::uint8_t { kIdle, kPrefill, kDecode };

  // --- serial_replica.cc
  void serve_next(Instant now);
  void begin_prefill(Instant now, Duration moving);
  void end_prefill(Instant now);
  void begin_decodes(Instant now);
  // `steps` steps of the stretch under way have ended, the last at `end`.
  void end_decodes(std::int64_t steps, Instant end);
  void finish(Instant now);
  // Steps that ended before `now` count, the one under way does not. Returns how many did.
  std::int64_t break_off(Instant now);
  void stop_serving(Instant now);
  void record(const Sequence& sequence, OutcomeStatus status, Instant finish);
  void account(Instant to);
  StepShape shape_of_prefill() const;
  StepShape shape_of_decode() const;
  std::int64_t steps_ended_by(Instant now) const;
  TokenCount tokens_in_flight() const;
  void note_stretch(Instant now);
  void tell_stretch(Instant now);

  // --- serial_kv.cc
  const KvRetentionOptions& retention() const { return *options_.retention; }
  // The head of the queue takes its room. Returns how many idle tokens its chain had there; nothing
  // when the call has to wait for moves out, until wake_at_.
  std::optional<TokenCount> take_room(Instant now);
  // Tokens of the call's prompt that need not be computed, where its chain had `idle` tokens in
  // HBM; into `moving` how long it takes until they are there.
  TokenCount take_history(TokenCount idle, Instant now, Duration& moving);
  void leave_history(Instant now);
  TokenCount usable(const Request& request, TokenCount tokens) const;
  BlockCount held_blocks() const { return options_.layout.blocks_for(store_.held()); }

  const ReplicaOptions options_;
  const LatencyModel& latency_;
  ReplicaSink& sink_;
  GapTracker gaps_;
  ReplicaUsage usage_;
  SessionStore store_;
  std::optional<HostTier> host_;  // for IdleKv::kOffload

  std::deque<Request> waiting_;  // by arrival, then id
  TokenCount waiting_tokens_ = 0;
  Phase phase_ = Phase::kIdle;
  Sequence call_;           // that is being served
  DecodeSegment segment_;   // of the stretch under way
  std::int64_t steps_ = 0;  // in it
  Instant boundary_;        // when it began
  Instant wake_at_ = Instant::never();

  DecisionObserver* observer_;  // null: nobody looks on
  std::unique_ptr<StepNotes> notes_;
};

}  // namespace inferscale
