// Which waiting requests join the batch, and when: the policy of the engine's own loop.
//
// At each step boundary the replica asks the scheduler whether the batch is open. While it is, the
// head of the queue is admitted as long as a slot, the step's token budget and KV blocks last. All
// schedulers here are first come, first served: a head that does not fit blocks those behind it.
//
//   continuous_fcfs  open at every boundary; KV blocks for what is cached, growing step by step
//   static_fcfs      open only when the batch is empty: takes who waits then, as many as fit, and
//                    drains; KV blocks for prompt plus requested output from the start

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace inferscale {

enum class SchedulerKind : std::uint8_t { kContinuousFcfs, kStaticFcfs };

std::string_view scheduler_name(SchedulerKind kind);
std::optional<SchedulerKind> scheduler_by_name(std::string_view name);

class BatchScheduler {
 public:
  virtual ~BatchScheduler() = default;
  // A step boundary: `running` sequences are in the batch, `waiting` in the queue.
  virtual void at_boundary(std::int64_t running, std::int64_t waiting) = 0;
  // Whether the batch takes another sequence at this boundary, as far as the scheduler is
  // concerned.
  virtual bool is_open() const = 0;
  // One was admitted.
  virtual void admitted() = 0;
  // The head of the queue does not fit for lack of KV blocks.
  virtual void head_blocked() = 0;
  // Whether a request that arrives while `running` sequences decode could be admitted before one of
  // them leaves.
  virtual bool takes_arrivals(std::int64_t running) const = 0;
  // Whether a sequence holds blocks for prompt plus requested output from its admission on.
  virtual bool reserves_output() const = 0;
};

// `max_num_seqs` is the most sequences in the batch.
std::unique_ptr<BatchScheduler> make_scheduler(SchedulerKind kind, std::int64_t max_num_seqs);

}  // namespace inferscale
