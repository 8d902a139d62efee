// Refuses while the KV cache is nearly full.
//
//   refuse  <=>  kv_used_fraction >= threshold
//
// A full KV cache makes engines preempt running requests and compute them again. But a full cache
// may also be a useful one (prefixes that are found again), and it says nothing of the queue:
// dual_gate and queue_age see these. A fraction that is unknown refuses nobody.

#pragma once

#include "admission/registry.h"

namespace inferscale {

struct KvThresholdOptions {
  double threshold = 0.9;
  bool defers = false;  // else it rejects
};

const PolicyCard& kv_threshold_card();
PolicyFactory read_kv_threshold(ConfigReader& parameters);

}  // namespace inferscale
