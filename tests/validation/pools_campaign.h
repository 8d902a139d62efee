// The prefill/decode pools of dstack's comparison, simulated as they were measured.
//
// gpt-oss-120b on eight H200s, SGLang of September 2025, two accelerators a worker, requests handed
// round (README.md and scripts of dstackai/benchmarks, comparison/pd_ratio, 06c957a); 500 prompts
// of one length with at most 128, then 64, then 32 in flight, seconds apart on the same workers.
//
// The three stages' prompts are the same ones (the load generator, vLLM's, draws them from one
// seed), so what fits in the prefill workers' prefix caches is computed in the first stage and
// found in the others, if it comes to the same worker. That generator sends the first prompt once
// alone before it starts, so a stage is 501 requests: with three prefill workers every prompt comes
// back to its worker, with two it comes to the other one in the second stage and back in the third.

#pragma once

#include <string>
#include <vector>

#include "validation/closed_loop.h"
#include "validation/knees_cases.h"

namespace inferscale {

struct PoolOptions {
  bool prefix_caching = true;
  double prefill_scale = 1;
  double decode_scale = 1;
  std::int64_t tensor = 2;  // accelerators of a worker
  double output_cv = 0.5;   // the source has means only
};

// One row with what the simulation of its place in the campaign gives.
struct PoolRow {
  MeasuredCase measured;
  ClosedStageResult ours;
};

// The rows of one ratio ("1p3d") and one pair of lengths ("2048x128"), most in flight first.
Result<std::vector<PoolRow>> simulate_pools(const std::vector<MeasuredCase>& cases,
                                            const std::string& ratio, const std::string& lengths,
                                            const PoolOptions& options);

}  // namespace inferscale
