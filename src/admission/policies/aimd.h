// A limit on requests in flight, by additive increase and multiplicative decrease (D.-M. Chiu and
// R. Jain, "Analysis of the increase and decrease algorithms for congestion avoidance in computer
// networks", Computer Networks and ISDN Systems 17, 1989).
//
//   L <- min(most, L + increase / L)   for an outcome within the target, where at least half of the
//                                      limit was in use
//   L <- max(least, backoff L)         for one beyond it, or one that failed
//
// L thus grows by `increase` for every L outcomes: once around. What comes of one congestion counts
// once: outcomes of requests that were admitted before the last decrease do not decrease it again.

#pragma once

#include <cstdint>

#include "admission/policies/latency_measure.h"
#include "admission/registry.h"

namespace inferscale {

struct AimdOptions {
  LatencyMeasure measure = LatencyMeasure::kTtft;
  double target_s = 1;
  double increase = 1;
  double backoff = 0.9;
  double initial = 20;
  double least = 1;
  double most = 10'000;
  bool defers = false;  // else it rejects
};

const PolicyCard& aimd_card();
PolicyFactory read_aimd(ConfigReader& parameters);

}  // namespace inferscale
