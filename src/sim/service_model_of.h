// The service estimate of a simulated replica, from its own latency model.
//
// What a step takes is asked of the model at some reference steps, and the three coefficients are
// their least squares (core/service_model.h):
//
//   gamma, beta  intercept and slope of decode steps of 1 to max_num_seqs sequences, each of the
//                typical context
//   alpha        of unloaded prompts of 1/8 to all of a chunk: what they take beyond gamma a step,
//                in proportion to their tokens
//
// No coefficient is negative: where the line would cut the axis below zero (step times that bend
// upwards), it goes through the origin. The figures are of one rank; the chunk is
// max_num_batched_tokens. A prompt of many chunks takes longer than estimated, by its attention to
// the chunks before (15 % for one of 8,192 tokens in chunks of 2,048, Llama-3.1-8B on an H100).

#pragma once

#include "core/service_model.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"

namespace inferscale {

struct TypicalRequest {
  TokenCount context = 1024;  // tokens that a decoding sequence attends to. REQUIRES: at least 1
};

// REQUIRES: replicas >= 1.
ServiceModel service_model_of(const LatencyModel& latency, const ReplicaOptions& replica,
                              std::int64_t replicas, const TypicalRequest& typical = {});

}  // namespace inferscale
