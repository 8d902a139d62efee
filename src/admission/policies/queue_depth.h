// Refuses while too many requests wait in the engines.
//
//   refuse  <=>  queue_depth > max_waiting           (strictly: max_waiting may wait)
//
// The queue is the first thing to grow when a pool is asked for more than it can do, whatever it is
// short of, and what waits there is the delay of whoever comes next. A queue that is unknown
// refuses nobody.

#pragma once

#include <cstdint>

#include "admission/registry.h"

namespace inferscale {

struct QueueDepthOptions {
  std::int64_t max_waiting = 8;
  bool of_each_replica = false;  // the limit is on the mean over replicas, not on their sum
  bool defers = false;           // else it rejects
};

const PolicyCard& queue_depth_card();
PolicyFactory read_queue_depth(ConfigReader& parameters);

}  // namespace inferscale
