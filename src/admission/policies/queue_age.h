// Refuses while somebody has waited too long for a first token.
//
//   refuse  <=>  queue_age_s > max_age_s
//
// The age is what the clients feel, in their unit: it needs no knowledge of how fast the pool is,
// and within seconds it tells a queue that moves from one that stands. The door measures it itself
// (no engine publishes it). Nobody waiting is an unknown age, which refuses nobody.

#pragma once

#include "admission/registry.h"

namespace inferscale {

struct QueueAgeOptions {
  double max_age_s = 1;
  bool defers = false;  // else it rejects
};

const PolicyCard& queue_age_card();
PolicyFactory read_queue_age(ConfigReader& parameters);

}  // namespace inferscale
