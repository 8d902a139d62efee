// What is in a single-stepping replica at one instant: its queue, its batch, and its KV blocks.
//
// Nothing is kept in sums. Free blocks, room, the needs of partial sequences and the budget are
// reckoned from every member whenever somebody asks, so a question costs as much as the batch is
// long. Only with a prefix cache the free blocks are the cache's to count, since sequences share
// them.
//
// Words and rules are those of docs/schedulers/steps.md.

#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "replica/expected_room.h"
#include "replica/prefix_cache.h"
#include "replica/replica.h"
#include "replica/retention_ledger.h"
#include "replica/sequence.h"
#include "replica/waiting_queue.h"

namespace inferscale {

//   partial --all of its target computed--> decoding     transferring --transferred()--> decoding
// Preempted ones leave the batch; so do finished and handed-over ones.
enum class Stage : std::uint8_t { kPartial, kTransferring, kDecoding };

struct Member {
  Sequence sequence;           // `computed` counts the tokens in the cache at every stage
  std::int64_t admission = 0;  // counted from the start: who comes back is another member
  Stage stage = Stage::kPartial;
  BlockCount blocks = 0;  // in its table, those that it shares through the prefix cache included
  TokenCount chunk = 0;   // tokens that the step computes of it
  bool decodes = false;   // the step gives it a token
  bool leaves = false;    // with the step under way: its caller has gone

  RequestId id() const { return sequence.request.id; }
};

// A handed-over sequence whose blocks stay until release().
struct Parked {
  std::uint32_t ticket = 0;
  Member member;
};

// What a request finds in the cache.
struct Found {
  TokenCount tokens = 0;
  TokenCount restored = 0;       // of these, from host memory
  BlockCount prefix_blocks = 0;  // of the resident shared prefix
  PrefixCache::Match match;
};

class StepwiseState {
 public:
  explicit StepwiseState(const ReplicaOptions& replica_options);

  const ReplicaOptions options;
  const SchedulerRules& rules;
  WaitingQueue waiting;
  std::list<Member> batch;  // in the order of admission
  std::vector<Parked> parked;
  std::vector<Member*> chunks;  // who gets a chunk of the step, in the order of planning
  bool preempted = false;       // somebody was preempted at this boundary
  std::int64_t chosen = 0;      // where the batch drains: how many of the chosen still wait
  bool full = false;      // where answers are expected: no head is tried before somebody leaves
  ExpectedRoom expected;  // likewise
  ReplicaUsage usage;
  double restore_ns = 0;  // of those who begin with the step that is being planned

  std::int64_t batch_size() const { return static_cast<std::int64_t>(batch.size()); }
  // Null when it is not in the batch.
  Member* find(RequestId id);
  // Whether `stage` occurs in the batch.
  bool has(Stage stage) const;
  // Prompt tokens to be computed and requested output tokens to come, of all.
  TokenCount tokens_in_flight() const;

  // Blocks that nobody holds; the tokens under way of decoding sequences are not counted yet.
  BlockCount free_blocks() const;
  // What the decodes of the step will write into beyond the blocks that they have.
  BlockCount needed_by_decodes() const;
  // Free blocks beyond those.
  BlockCount room() const { return free_blocks() - needed_by_decodes(); }
  BlockCount held_blocks() const { return options.kv_blocks - room(); }
  // Blocks that the member lacks for `tokens` tokens in the cache.
  BlockCount lacks(const Member& member, TokenCount tokens) const;
  // Tokens that the step may still take up.
  TokenCount budget() const;
  // The next chunk of a partial sequence, as far as the budget goes.
  TokenCount chunk_size(const Member& member) const;

  Found look_up(const WaitingQueue::Head& head) const;
  // Whether the head's blocks are there (and in most schedulers those that partial sequences will
  // still need).
  bool fits(const WaitingQueue::Head& head, const Found& found) const;
  // The head joins the batch with what it found; a handed-over one with all that it needs.
  Member& admit_head(const Found& found, Instant now);
  // The step computes `tokens` more tokens of it. Takes their blocks.
  void plan_chunk(Member& member, TokenCount tokens);
  // Takes the blocks that `tokens` tokens in the cache need. REQUIRES: they are free.
  void cover(Member& member, TokenCount tokens);
  // What the latency model is asked about the planned step.
  StepShape shape_of_step() const;
  // The step is under way: every decoding sequence writes its next token.
  void take_for_decodes();
  // With retention: the ledger's time goes on to `now`, from the last step's beginning, or end.
  void pass_time(Instant now);
  // With a ledger, else nothing happens.
  void end_call(const Sequence& sequence, Instant now);
  void end_chain(const Request& request, Instant now);
  // Content of all tokens computed so far can be found from now on.
  void publish(Member& member);
  // The sequence needs its blocks no longer; what it computed stays readable.
  void give_back(Member& member);
  // REQUIRES: its blocks were given back or are parked.
  void remove(const Member& member);

  // Takes a request out of the queue whose caller has gone; nothing when it does not wait.
  std::optional<Sequence> cancel_waiting(RequestId id);

  // Among partial and decoding sequences; null when there is none.
  Member* victim();
  void preempt(Member& member);
  // Every decoding sequence gets a token of the step; victims are preempted until their blocks are
  // there. False when the only one can't go on because transfers hold the blocks: then none does.
  bool plan_decodes();

  // Everything is dropped at `now`; sums stay. Returns whose requests were in it, in order of id.
  std::vector<Request> clear(Instant now);
  // Free and held blocks add up, everybody has the blocks of its tokens. What is broken, or null.
  const char* broken_invariant() const;

 private:
  bool looks_up() const { return options.prefix_caching || options.shared_prefix_tokens > 0; }
  BlockCount resident_blocks() const;
  // Whether `a` is preempted before `b`, which was admitted before it.
  bool goes_before(const Member& a, const Member& b) const;
  void note_retraction();
  // Blocks in the table of a member with `tokens` tokens in the cache.
  BlockCount table_blocks(const Sequence& sequence, TokenCount tokens) const;
  void make_cache();

  std::optional<PrefixCache> cache_;
  std::optional<RetentionLedger> ledger_;
  Instant ledger_time_;
  std::int64_t admissions_ = 0;
};

}  // namespace inferscale
