// An independent simulator of one replica, to compare the real ones with.
//
// It is written from docs/schedulers and shares no code with src/replica but the options and the
// latency model. Time is a long double that adds up the cost of one step after the other, each
// asked of the latency model afresh: no growth, no closed form, no segments, no rounding to whole
// nanoseconds. Sequences stand in plain vectors and every step looks at all of them.
//
// Agreement: a replica keeps whole nanoseconds, so each of its roundings (one for each prefill step
// and each segment) may move it by at most 1 ns against the sum of exact costs. Where no rounding
// is needed (all step costs are whole), the two must agree exactly.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/outcome.h"
#include "core/request.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"

namespace inferscale {

struct NaiveOutcome {
  Reason reason = Reason::kNone;
  long double start_ns = 0;
  std::vector<long double> token_ns;  // when each token came; empty when refused
  std::int64_t preemptions = 0;
};

struct NaiveRun {
  std::vector<NaiveOutcome> outcomes;  // by request id
  long double end_ns = 0;
  long double busy_ns = 0;  // as in ReplicaUsage
  long double sequence_ns = 0;
  long double kv_block_ns = 0;
  BlockCount kv_blocks_peak = 0;
  std::int64_t running_peak = 0;
  std::int64_t queue_peak = 0;
  std::int64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;
  std::int64_t prefill_steps = 0;
  std::int64_t decode_steps = 0;
  // Arrivals within `close_ns` of a step boundary, and those of them whose side of it decides what
  // becomes of some request.
  std::int64_t near_arrivals = 0;
  std::int64_t close_calls = 0;
};

// `requests` are in the order of arrival, ids 0, 1, 2, ...
NaiveRun run_naive_engine(const ReplicaOptions& options, const LatencyModel& latency,
                          std::span<const Request> requests, long double close_ns);

}  // namespace inferscale
