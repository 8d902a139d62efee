// The replica that advances from change to change.
//
// Between two changes of batch membership the decode steps form a DecodeSegment. The replica jumps
// over as many steps of it as nothing can happen in: until a sequence finishes, a sliding window
// fills, KV blocks run out, or the latency model's straight line ends. An arrival that could be
// admitted ends the jump at the next step boundary; one that could not leaves it as it is, since
// inside a segment free blocks only get fewer. At the jump's end the sums (blocks, gaps, context)
// move on by the steps taken, and only sequences that join or leave are touched. Where nothing has
// changed the same segment goes on, so that how it was cut into jumps moves no instant. A step that
// computes prompts, alone or mixed with decodes, is a segment of one step.
//
// Cost: for each change a place in the list of who finishes when (finish_queue.h), and at most
// kv_block_tokens additions; nothing for each token.
//
// The class is in six files: segment_replica.cc moves time, segment_steps.cc forms steps by the
// schedulers' rules (docs/schedulers/steps.md) and segment_admission.cc admits and preempts,
// segment_roles.cc has hand-overs, failures and the end of a run, segment_cancel.cc those whose
// callers have gone, segment_notes.cc the decision trace.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "replica/batch.h"
#include "replica/decode_group.h"
#include "replica/expected_room.h"
#include "replica/gap_tracker.h"
#include "replica/kv_blocks.h"
#include "replica/replica.h"
#include "replica/retention_ledger.h"
#include "replica/step_notes.h"
#include "replica/waiting_queue.h"

namespace inferscale {

class SegmentReplica final : public Replica {
 public:
  SegmentReplica(const ReplicaOptions& options, const ReplicaSurroundings& surroundings);

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
  enum class Phase : std::uint8_t { kIdle, kStep };
  // Prompt tokens that the running step computes for one sequence.
  struct Chunk {
    Slot slot;
    TokenCount tokens;
  };
  struct Ranked {
    QueueKey key;
    RequestId id;
    Slot slot;
  };
  // What an admission of the head would find in the cache, and take from the free blocks.
  struct Finding {
    PrefixCache::Match match;
    TokenCount cached = 0;         // tokens that need not be computed
    TokenCount restored = 0;       // of these, from host memory: blocks are taken for them
    BlockCount prefix_blocks = 0;  // of the resident shared prefix
    // Blocks for `tokens` tokens of the sequence, less those that are held already.
    BlockCount cost(const KvLayout& layout, TokenCount tokens) const {
      return layout.blocks_for(tokens) - prefix_blocks - match.blocks + match.from_free;
    }
  };

  std::int64_t running() const { return batch_.size(); }
  // Whether only decodes run, so that the step may be one of many.
  bool is_decoding() const { return phase_ == Phase::kStep && decodes_ && chunks_.empty(); }

  // --- segment_replica.cc
  void cut_segment(Instant at);
  void plan(std::int64_t steps);
  void wake_if_idle(Instant now);
  // A newcomer at the head of the queue: may the segment end earlier for it?
  void consider_head(RequestId newcomer, bool was_empty, Instant now);
  void end_step(Instant now);
  void end_chunks(Instant now);
  void emit_after_prefill(Slot slot, Instant now);
  void finish(Slot slot, Instant now);
  void hand_over(Slot slot);
  void begin_step(Instant now, bool with_decodes);
  bool head_may_join_next() const;  // REQUIRES: somebody waits
  void pause();
  StepShape shape_of_step(bool with_decodes) const;
  void add_chunks_to(StepShape& shape) const;
  void account(Instant from, Instant to, double kv_block_ns);
  void account_idle(Instant to);
  // The first step of the jump under way that ends at or after `at`, at most `limit`.
  std::int64_t step_ending_at(Instant at, std::int64_t limit) const;
  // Tokens in flight at the last boundary, with what has come since.
  TokenCount tokens_in_flight() const;
  // The decode steps of the jump under way that have ended by `now`.
  std::int64_t steps_ended_by(Instant now) const;
  // `steps` decode steps of the jump under way have ended, the last at `end`.
  void end_decodes(std::int64_t steps, Instant end);
  // With a ledger: its time goes on.
  void pass_time(Instant now) { retention_->pass_time(blocks_.held(), now); }
  // The same over the next steps of the jump. Returns the integral of held blocks.
  double pass_steps(std::int64_t steps);
  void wait_for_restore(Instant now);

  // --- segment_steps.cc
  void form_step(Instant now);
  void form_separate(Instant now);
  void take_in_prompts(Instant now);
  void form_mixed(Instant now);
  void form_expecting(Instant now);
  void run_chunks_or_decodes(Instant now);
  void join_ready();
  // Preempts until the decodes' next step fits. False: it does not, and nobody can be preempted.
  bool make_room_for_decodes();
  void serve_partials(TokenCount& budget);
  void serve_queue(Instant now, TokenCount& budget);
  void serve_merged(Instant now, TokenCount& budget);
  std::vector<Ranked> partials_by_key() const;
  void take_in_head(const WaitingQueue::Head& head, const Finding& finding, Instant now,
                    TokenCount& budget);
  bool chunk_fits(Slot slot, TokenCount tokens) const;
  bool make_room_for_chunk(Slot slot, TokenCount tokens, TokenCount& budget);
  TokenCount next_chunk(Slot slot, TokenCount budget) const;
  std::vector<Slot> partials_in_order() const;
  TokenCount cut_to_blocks(TokenCount left, TokenCount budget) const;
  void give_chunk_of(Slot slot, TokenCount tokens);

  // --- segment_admission.cc
  bool has_seat() const { return running() < options_.max_num_seqs; }
  Finding find(const WaitingQueue::Head& head) const {
    return may_find_ ? look_up(head) : Finding{};
  }
  Finding look_up(const WaitingQueue::Head& head) const;
  // Tokens that an admission of the head must find blocks for, at once or later.
  TokenCount tokens_to_hold(const WaitingQueue::Head& head) const;
  // Free blocks for newcomers at the boundary after `steps` steps of the running segment.
  BlockCount room_after(std::int64_t steps) const;
  BlockCount watermark() const { return running() == 0 ? 0 : options_.watermark_blocks; }
  BlockCount owed_to_partials() const;
  // sglang: tokens that newcomers may take.
  double expected_room();
  TokenCount expected_output(const WaitingQueue::Head& head) const;
  bool expects_to_fit(const WaitingQueue::Head& head, const Finding& finding, double room) const;
  void reckon_ratio();
  // Blocks that must be free for the head to be admitted.
  BlockCount room_for(const WaitingQueue::Head& head, const Finding& finding) const;
  bool head_fits(const WaitingQueue::Head& head, const Finding& finding, BlockCount room) const {
    return room_for(head, finding) <= room;
  }
  // At the boundary after `steps` steps of the running segment.
  bool head_fits_after(std::int64_t steps, const WaitingQueue::Head& head) const;
  Slot admit_head(const Finding& finding, Instant now);
  void reserve_head(const Finding& finding, Instant now);
  void cover(Place& place, TokenCount tokens);
  BlockCount own_blocks(const Place& place, TokenCount tokens) const;
  bool goes_before(const Place& one, const Place& other) const;
  Slot victim() const;
  void preempt(Slot slot);

  // --- segment_notes.cc
  HeadWaits why_head_waits() const;
  void note_formed_step(Instant now);
  void tell_ended_step(Instant now);

  // --- segment_cancel.cc
  bool cancel_waiting(RequestId id, Instant now);
  void record_abandoned(const Sequence& sequence);
  void sort_leavers();  // in order of admission
  // Who leaves, in order, decodes no longer: what it has generated is in its sequence.
  void call_leavers();
  void dismiss_leavers(Instant now);
  void flush_leavers();
  // The next boundary looks at the queue again: somebody has gone who may have stood in the way.
  void look_again(Instant now);
  void leave_transfer(Slot slot, Instant now);

  // --- segment_roles.cc
  void give_back_between(Place& place, TokenCount tokens, Instant now);
  void drop_everything();
  bool skips_head() const;
  BlockCount blocks_of(Slot slot) const;

  const ReplicaOptions options_;
  const SchedulerRules rules_;
  const LatencyModel& latency_;
  ReplicaSink& sink_;
  WaitingQueue waiting_;
  KvBlocks blocks_;
  GapTracker gaps_;
  Batch batch_;
  DecodeGroup group_;
  BlockCount resident_blocks_ = 0;  // of the shared prefix
  const bool may_find_;             // there is a cache, or the shared prefix

  std::vector<Slot> partials_;    // in order of admission
  std::vector<Chunk> chunks_;     // of the running step
  std::vector<Slot> finished_;    // scratch
  std::vector<Slot> leavers_;     // leave with the step under way
  std::int64_t open_places_ = 0;  // of a batch that drains: how many more were chosen
  bool preempted_ = false;        // somebody was, at this boundary
  bool looks_again_ = false;      // at the next boundary: somebody was withdrawn or cancelled
  bool full_ = false;             // sglang: the head did not fit; until somebody leaves
  ExpectedRoom expected_;

  // Decode role.
  std::map<RequestId, Slot> transferring_;
  TokenCount transferring_tokens_ = 0;  // requested tokens that they may still generate
  std::vector<Slot> ready_;             // transferred since the last boundary

  Phase phase_ = Phase::kIdle;
  bool decodes_ = false;  // the running step has decodes
  Instant boundary_;      // when the running step or jump began
  Instant wake_at_ = Instant::never();
  DecodeSegment segment_;
  std::int64_t line_steps_ = 0;     // for so many steps the segment's costs hold
  std::int64_t taken_steps_ = 0;    // of the segment, before the jump under way
  std::int64_t natural_steps_ = 0;  // of the jump, if nobody joins
  std::int64_t planned_steps_ = 0;  // until the next wake-up
  bool changed_ = true;             // the batch, or its shape's growth, since the last step began
  ReplicaUsage usage_;
  std::unique_ptr<RetentionLedger> retention_;  // null: idle KV caches have no time
  double restore_ns_ = 0;                       // of those who begin with the step being formed

  DecisionObserver* observer_;  // null: nobody looks on
  std::unique_ptr<StepNotes> notes_;
};

}  // namespace inferscale
