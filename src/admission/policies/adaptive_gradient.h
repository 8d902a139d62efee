// A limit on requests in flight that follows how much slower than at its best the pool is: the
// idea of Netflix's concurrency-limits (Gradient2) and Envoy's adaptive concurrency filter.
//
// Outcomes are taken in batches of `batch`. Of each, with T the mean latency of the batch and T0
// the least such mean that is remembered:
//
//   g  = clamp(tolerance T0 / T, 1/2, 1)
//   L <- (1 - smoothing) L + smoothing (g L + sqrt(L))     between least and most
//
// sqrt(L) is the headroom: the queue that is allowed. L rests where T = tolerance T0 / (1 -
// 1/sqrt(L)). It does not grow when less than half of it was in use.
//
// Means of batches, since the least single latency is that of the shortest prompt.
//
// With `slowdown` T0 is 1: the service estimate says how long a prompt takes alone. With `ttft` it
// is measured, and anew each remeasure_s: the limit falls to `least`, and the next batch of
// requests that met no more than that in flight gives it. Without that a pool that is always loaded
// would take its load for its best; but while it is measured the door is almost shut.

#pragma once

#include <cstdint>

#include "admission/policies/latency_measure.h"
#include "admission/registry.h"

namespace inferscale {

struct AdaptiveGradientOptions {
  LatencyMeasure measure = LatencyMeasure::kSlowdown;
  std::int64_t batch = 25;
  double tolerance = 1.5;
  double smoothing = 0.2;
  double initial = 20;
  double least = 3;
  double most = 10'000;
  double remeasure_s = 600;
  bool defers = false;  // else it rejects
};

const PolicyCard& adaptive_gradient_card();
PolicyFactory read_adaptive_gradient(ConfigReader& parameters);

}  // namespace inferscale
