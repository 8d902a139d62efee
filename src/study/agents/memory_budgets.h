// The points of memory-stress: KV caches as multiples of the peak that one program trace reaches on
// a replica when nothing of it is evicted. (A fraction of the accelerator's memory would mean
// nothing for a small model, whose KV caches never fill it.)

#pragma once

#include <vector>

#include "study/agents/sweep_points.h"

namespace inferscale {

// Every chain's KV cache stays for ever, in a cache that nothing fills.
SweepPoint unlimited_memory();

// What the configured deployment has, of one replica: the smallest kind. In tokens.
double configured_kv_tokens(const PreparedRun& base);

// A point for each of study.agents.memory_budgets. `peaks` are in tokens, by repetition: each
// repetition's budget is a multiple of its own peak, rounded up to whole blocks.
std::vector<SweepPoint> memory_points(const PreparedRun& base, const std::vector<double>& peaks);

}  // namespace inferscale
