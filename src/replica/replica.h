// A replica: one copy of the model with its waiting queue, its running batch and its KV cache.
//
// The replica is driven from outside, in virtual time. Its owner hands it arrivals with enqueue()
// and calls wake() at next_wake(); between these calls nothing changes that anybody could see.
// Rule for ties: arrivals at an instant are enqueued before the wake-up at that instant, cancelled
// ones are told of between the two, and a wake-up first ends the step, then lets those out who
// leave, then admits, then starts the next step.
//
//   waiting --admitted--> prefilling --first token--> decoding --last token--> finished
//      ^                      |                          |
//      +----------------------+- preempted (no blocks) <-+
//   at arrival: refused, when it can never be served or the queue is full
//   anywhere: abandoned, when its caller has gone (cancel())
//
// In a prefill/decode split a replica plays one role. A prefill replica hands a sequence over at
// its first token and keeps its blocks until release(). A decode replica takes handed-over
// sequences with enqueue_handoff(): at a boundary, when a place and the blocks for the prompt are
// there, it admits one and says so (`reserved`), the owner moves the KV cache, and from the first
// boundary after transferred() on the sequence decodes. One that it preempts it prefills itself.
//
// Two implementations give the same timestamps to the nanosecond. `make_segment_replica` advances
// from one change of batch membership to the next: its cost grows with requests.
// `make_stepwise_replica` takes every step and looks at every sequence: slow, simple, the oracle.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/decision_observer.h"
#include "core/duration_histogram.h"
#include "core/kv_retention_usage.h"
#include "core/outcome.h"
#include "core/request.h"
#include "replica/batch_scheduler.h"
#include "replica/kv_layout.h"
#include "replica/kv_retention.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

enum class ReplicaRole : std::uint8_t { kWhole, kPrefill, kDecode };

// How long a request will keep a replica busy, as far as one can say without looking at the batch:
// remaining prompt x prefill_ns_per_token + remaining requested output x decode_ns_per_token.
struct ServiceEstimate {
  double prefill_ns_per_token = 0;
  double decode_ns_per_token = 0;
};

struct ReplicaOptions {
  SchedulerKind scheduler = SchedulerKind::kContinuousFcfs;
  ReplicaRole role = ReplicaRole::kWhole;
  std::uint32_t index = 0;                   // in the fleet, for Outcome::replica
  std::int64_t max_num_seqs = 256;           // most sequences in the batch
  TokenCount max_num_batched_tokens = 8192;  // most tokens in one step that prefills
  // Most prompt tokens of one sequence in one mixed step; 0: as many as the step has room for.
  TokenCount long_prefill_token_threshold = 0;
  bool by_priority = false;  // higher Request::priority first, where the scheduler knows it
  KvLayout layout;
  BlockCount kv_blocks = 0;         // REQUIRES: at least 1
  BlockCount watermark_blocks = 0;  // stay free at an admission, unless the batch is empty
  bool prefix_caching = false;      // finished and preempted sequences leave their blocks readable
  TokenCount shared_prefix_tokens = 0;     // of the one prefix that is always in the cache
  TokenCount max_model_len = 0;            // most prompt plus requested output tokens
  std::optional<std::int64_t> max_queued;  // most waiting requests; unlimited when not set
  std::optional<Duration> itl_limit;       // for Outcome::gaps_over_limit
  std::optional<Duration> e2e_limit;       // the deadline that slack is reckoned from
  // By Request::slo_class, in place of these two; empty: they are of all requests.
  std::vector<std::optional<Duration>> class_itl_limits;
  std::vector<std::optional<Duration>> class_e2e_limits;
  ServiceEstimate service;          // for schedulers that order by it
  bool serial = false;              // one call after the other: make_serial_replica
  bool tells_first_tokens = false;  // the sink is told of them as they come
  // For requests of agent programs; not set: nothing is dropped before its blocks are needed, and
  // no residency is added up.
  std::optional<KvRetentionOptions> retention;
};

inline const std::optional<Duration>& itl_limit_of(const ReplicaOptions& options,
                                                   const Request& request) {
  const auto& by_class = options.class_itl_limits;
  return by_class.empty() ? options.itl_limit : by_class[request.slo_class];
}
inline const std::optional<Duration>& e2e_limit_of(const ReplicaOptions& options,
                                                   const Request& request) {
  const auto& by_class = options.class_e2e_limits;
  return by_class.empty() ? options.e2e_limit : by_class[request.slo_class];
}

// A sequence on its way from a prefill replica to a decode replica.
struct Handoff {
  Request request;
  Instant start;
  Instant first_token;
  std::uint32_t cached_tokens = 0;  // prompt tokens that the prefill replica did not compute
  std::uint32_t preemptions = 0;
  std::uint32_t ticket = 0;  // for release() of the replica that it comes from
};

// Takes what the replica reports, during enqueue(), wake(), cancel(), fail() and flush().
class ReplicaSink {
 public:
  virtual ~ReplicaSink() = default;
  // The end of a request, once for each: finished, refused, abandoned; by flush(), unfinished.
  virtual void record(RequestId id, const Outcome& outcome) = 0;
  // The first token of a request, where ReplicaOptions::tells_first_tokens; once for each.
  virtual void first_token(RequestId /*id*/, Instant /*now*/) {}
  // A prefill replica has the first token of a request that needs more.
  virtual void prefilled(const Handoff& handoff) = 0;
  // A decode replica keeps a place and blocks for the sequence. Of its prompt `resident_tokens` are
  // in that replica's cache already; the others have to be moved.
  virtual void reserved(RequestId id, TokenCount resident_tokens, Instant now) = 0;
};

// What is going on at one instant.
struct ReplicaLoad {
  std::int64_t queue_depth = 0;  // waiting, preempted ones included
  std::int64_t running = 0;      // prefilling or decoding
  BlockCount kv_blocks_held = 0;
  // Prompt tokens still to be computed and requested output tokens still to come, of all in it:
  // what a router without knowledge of the true lengths would count.
  TokenCount tokens_in_flight = 0;
};

// A lower bound of a load's tokens_in_flight while nothing is done to the replica.
struct TokenFloor {
  TokenCount tokens = 0;
  Instant until = Instant::never();  // from this instant on there may be fewer
  bool is_exact = false;             // until then there are just as many
};

// Between which a load's tokens_in_flight stays until the replica wakes or something is done to it.
struct TokenRange {
  TokenCount least = 0;
  TokenCount most = std::numeric_limits<TokenCount>::max();
};

// Sums over the time simulated so far.
struct ReplicaUsage {
  double busy_ns = 0;      // some step was running
  double sequence_ns = 0;  // integral of running sequences
  double kv_block_ns = 0;  // integral of held KV blocks
  BlockCount kv_blocks_peak = 0;
  std::int64_t running_peak = 0;
  std::int64_t queue_peak = 0;
  std::int64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;        // tokens prefilled again after a preemption
  std::int64_t prompt_tokens_looked_up = 0;  // at first admissions, with a prefix cache
  std::int64_t prompt_tokens_cached = 0;     // of these, found there
  std::int64_t prefill_steps = 0;
  std::int64_t decode_steps = 0;
  std::int64_t segments = 0;   // jumps that the decode steps were taken in
  KvRetentionUsage retention;  // with ReplicaOptions::retention
};

class Replica {
 public:
  virtual ~Replica() = default;
  // REQUIRES: `now` (request.arrival) is at most next_wake().
  virtual void enqueue(const Request& request) = 0;
  // The next instant at which wake() must be called; never() when there is nothing to do.
  virtual Instant next_wake() const = 0;
  // REQUIRES: now == next_wake().
  virtual void wake(Instant now) = 0;

  // Decode role: a sequence whose KV cache is on a prefill replica.
  // REQUIRES: `now` is at most next_wake(), as for the three below.
  virtual void enqueue_handoff(const Handoff& handoff, Instant now) = 0;
  // Decode role: the KV cache of a reserved sequence has arrived.
  virtual void transferred(RequestId id, Instant now) = 0;
  // Decode role: the KV cache of a handed-over sequence will not come, for the replica that had it
  // is gone. The sequence, waiting or reserved, leaves without a record; what it kept is free.
  virtual void withdraw(RequestId id, Instant now) = 0;
  // Prefill role: the KV cache of a handed-over sequence is no longer needed.
  virtual void release(std::uint32_t ticket, Instant now) = 0;

  // Takes a request out whose caller has gone: one that waits, or waits for its transfer, at once;
  // a running one at the end of the step that is under way (engines abort between steps; with none
  // under way at `now`, by the wake-up then). Its outcome is recorded as kAbandoned
  // (Reason::kClientGone), with the timestamps that it had, no finish, and the tokens generated so
  // far, even if that step gives it its last one. In a split the owner cuts its transfer, and
  // release()s what a prefill replica keeps of it. False: it is not here (any more): unknown,
  // ended, handed over, or cancelled before. REQUIRES: `now` is at most next_wake().
  virtual bool cancel(RequestId id, Instant now) = 0;

  // The replica breaks down at `now`: everything in it is gone, its cache too, and it is as new.
  // Returns those that were waiting or running, in order of id. Handed-over sequences whose blocks
  // it kept are not among them: their tickets are void. Nor are cancelled ones: they are recorded.
  virtual std::vector<Request> fail(Instant now) = 0;
  // The state at `now`, from the last wake-up to next_wake() (excluded).
  virtual ReplicaLoad load_at(Instant now) const = 0;
  // A bound from `now` on that is not below the middle between what load_at(now) counts and
  // `level`; exact where that counts no more than `level`. (Between calls tokens in flight only get
  // fewer, held blocks only get more, waiting and running sequences stay as many.) REQUIRES: as
  // load_at().
  virtual TokenFloor token_floor(Instant now, TokenCount level) const = 0;
  // At little cost: what can be said without asking which steps have ended.
  virtual TokenRange token_range() const { return {}; }
  // Sums up to the last wake-up.
  virtual const ReplicaUsage& usage() const = 0;
  // For requests of programs, with ReplicaOptions::retention. The chain of `request` has ended on
  // another replica, or goes on there with less than it had: what it left here is of no use any
  // more. `now` as for enqueue().
  virtual void end_chain(const Request& request, Instant now) {
    static_cast<void>(request);
    static_cast<void>(now);
  }
  // Adds up the integrals of ReplicaUsage::retention to `now`, the end of the run.
  virtual void settle(Instant now) { static_cast<void>(now); }
  // Records those still waiting or running as unfinished, cancelled ones as abandoned. The replica
  // is not used afterwards.
  virtual void flush() = 0;
  // The invariants that can be checked from inside: free and held blocks add up, the batch is
  // within its limits, no one waits who could be admitted. Returns what is broken, or null.
  virtual const char* broken_invariant() const = 0;
};

// What a replica works with; all outlive it. `gaps` takes the gaps between consecutive tokens of
// all sequences; replicas may share one.
struct ReplicaSurroundings {
  const LatencyModel& latency;
  ReplicaSink& sink;
  DurationHistogram& gaps;
  DecisionObserver* observer = nullptr;  // told of steps, where there is one
};

std::unique_ptr<Replica> make_segment_replica(const ReplicaOptions& options,
                                              const ReplicaSurroundings& surroundings);
std::unique_ptr<Replica> make_stepwise_replica(const ReplicaOptions& options,
                                               const ReplicaSurroundings& surroundings);
// A station that serves one call after the other (replica/serial). REQUIRES: options.retention, and
// the role is kWhole.
std::unique_ptr<Replica> make_serial_replica(const ReplicaOptions& options,
                                             const ReplicaSurroundings& surroundings);

// Tokens that the KV cache keeps whatever sliding windows free.
TokenCount kv_tokens(const ReplicaOptions& options);

// Blocks that the one copy of the shared prefix occupies for good.
BlockCount resident_prefix_blocks(const ReplicaOptions& options);

// Why a request can't be taken up at all; kNone when it can. `waiting` counts the queue before it.
Reason refusal_of(const ReplicaOptions& options, const Request& request, std::int64_t waiting);

}  // namespace inferscale
