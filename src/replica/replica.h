// A replica: one copy of the model with its waiting queue, its running batch and its KV cache.
//
// The replica is driven from outside, in virtual time. Its owner hands it arrivals with enqueue()
// and calls wake() at next_wake(); between these calls nothing changes that anybody could see.
// Rule for ties: arrivals at an instant are enqueued before the wake-up at that instant, and a
// wake-up first ends the step, then admits, then starts the next step.
//
//   waiting --admitted--> prefilling --first token--> decoding --last token--> finished
//      ^                                                 |
//      +---------------- preempted (KV blocks ran out) <-+
//   at arrival: refused, when it can never be served or the queue is full
//
// Two implementations give the same timestamps to the nanosecond. `make_segment_replica` advances
// from one change of batch membership to the next: its cost grows with requests.
// `make_stepwise_replica` takes every step and looks at every sequence: slow, simple, the oracle.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/duration_histogram.h"
#include "core/outcome.h"
#include "core/request.h"
#include "replica/batch_scheduler.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

struct ReplicaOptions {
  SchedulerKind scheduler = SchedulerKind::kContinuousFcfs;
  std::int64_t max_num_seqs = 256;           // most sequences in the batch
  TokenCount max_num_batched_tokens = 8192;  // most prompt tokens in one prefill step
  std::int64_t kv_block_tokens = 16;
  BlockCount kv_blocks = 0;                // REQUIRES: at least 1
  TokenCount max_model_len = 0;            // most prompt plus requested output tokens
  std::optional<std::int64_t> max_queued;  // most waiting requests; unlimited when not set
  std::optional<Duration> itl_limit;       // for Outcome::gaps_over_limit
};

// Takes what the replica reports. Called for each request once, with a terminal status; and by
// flush() for those still in the replica, as unfinished.
class OutcomeSink {
 public:
  virtual ~OutcomeSink() = default;
  virtual void record(RequestId id, const Outcome& outcome) = 0;
};

// What is going on at one instant.
struct ReplicaLoad {
  std::int64_t queue_depth = 0;  // waiting, preempted ones included
  std::int64_t running = 0;      // prefilling or decoding
  BlockCount kv_blocks_held = 0;
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
  std::int64_t recomputed_tokens = 0;  // tokens prefilled again after a preemption
  std::int64_t prefill_steps = 0;
  std::int64_t decode_steps = 0;
  std::int64_t segments = 0;  // jumps that the decode steps were taken in
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
  // The state at `now`, from the last wake-up to next_wake() (excluded).
  virtual ReplicaLoad load_at(Instant now) const = 0;
  // Sums up to the last wake-up.
  virtual const ReplicaUsage& usage() const = 0;
  // All gaps between consecutive tokens of all sequences so far.
  virtual const DurationHistogram& gaps() const = 0;
  // Records those still waiting or running as unfinished. The replica is not used afterwards.
  virtual void flush() = 0;
  // The invariants that can be checked from inside: free and held blocks add up, the batch is
  // within its limits, no one waits who could be admitted. Returns what is broken, or null.
  virtual const char* broken_invariant() const = 0;
};

// `latency` and `sink` outlive the replica.
std::unique_ptr<Replica> make_segment_replica(const ReplicaOptions& options,
                                              const LatencyModel& latency, OutcomeSink& sink);
std::unique_ptr<Replica> make_stepwise_replica(const ReplicaOptions& options,
                                               const LatencyModel& latency, OutcomeSink& sink);

// Why a request can't be taken up at all; kNone when it can. `waiting` counts the queue before it.
RefusalReason refusal_of(const ReplicaOptions& options, const Request& request,
                         std::int64_t waiting);

}  // namespace inferscale
