// Looks on while a run is decided: why each step was formed and each replica chosen.
//
// Only told when somebody asked for a decision trace; telling costs time in proportion to what is
// told, and changes nothing. What a report refers to lives until the call returns.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

// Why the head of a replica's queue did not get into the step.
enum class HeadWaits : std::uint8_t {
  kNobody,           // nobody waited
  kPlace,            // max_num_seqs sequences are in the batch
  kBlocks,           // KV blocks
  kBudget,           // the step's token budget
  kExpectedRoom,     // room that running answers are expected to take (sglang)
  kBatchClosed,      // the batch drains (static_fcfs)
  kAfterPreemption,  // somebody was preempted at this boundary
};

std::string_view head_waits_name(HeadWaits why);

// A step, or a segment of decode steps over an unchanged batch, when it has ended.
struct StepReport {
  struct Chunk {
    RequestId request = 0;
    TokenCount tokens = 0;  // computed in this step
    TokenCount before = 0;  // in the cache already
  };
  std::uint32_t replica = 0;
  Instant start;
  Instant end;
  std::int64_t steps = 0;    // of the segment
  std::int64_t decodes = 0;  // sequences that decoded
  std::span<const Chunk> chunks;
  // At the boundary at which it was formed.
  std::span<const RequestId> admitted;
  std::span<const RequestId> preempted;
  std::int64_t running = 0;
  std::int64_t queue_depth = 0;
  BlockCount kv_blocks_free = 0;
  HeadWaits head_waits = HeadWaits::kNobody;
  RequestId head = 0;  // where somebody waited
};

struct RouteReport {
  struct Choice {
    std::uint32_t replica = 0;
    double score = 0;
  };
  Instant at;
  RequestId request = 0;
  std::string_view pool;     // whose replicas were to choose from
  std::string_view meaning;  // of the scores
  std::span<const Choice>
      choices;  // the chosen one first, then the next best; empty: nobody was up
};

class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  virtual void on_step(const StepReport& report) = 0;
  virtual void on_route(const RouteReport& report) = 0;
};

}  // namespace inferscale
