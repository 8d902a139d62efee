// Refuses while the KV cache is nearly full and what fills it is of no use.
//
//   refuse  <=>  kv_used_fraction >= threshold  and  prefix_hit_rate < min_hit_rate
//
// A cache that is full of prefixes which are found again is doing its work; one that is full while
// hardly anything is found again is thrashing. When either signal is unknown nobody is refused.

#pragma once

#include "admission/registry.h"

namespace inferscale {

struct DualGateOptions {
  double threshold = 0.9;
  double min_hit_rate = 0.2;
  bool defers = false;  // else it rejects
};

const PolicyCard& dual_gate_card();
PolicyFactory read_dual_gate(ConfigReader& parameters);

}  // namespace inferscale
