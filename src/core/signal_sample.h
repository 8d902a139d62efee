// The state of one replica at one instant: a row of a run's signals.

#pragma once

#include <cstdint>

#include "base/time.h"

namespace inferscale {

// Taken after everything that happened at `at`. The counters run from the start of the run.
struct SignalSample {
  Instant at;
  std::uint32_t replica = 0;
  std::int64_t queue_depth = 0;  // requests that wait for their first step, or again after one
  std::int64_t running = 0;      // requests in the batch
  std::int64_t kv_blocks_used = 0;
  double kv_used_fraction = 0;  // of the blocks that there are; NaN when there are none
  std::int64_t arrived = 0;
  std::int64_t finished = 0;
  std::int64_t refused = 0;
  std::int64_t preemptions = 0;
};

}  // namespace inferscale
