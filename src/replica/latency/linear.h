// `linear`: step time as a straight line in what the step holds.
//
//   step = step_us + prefill_us_per_token x prompt tokens + decode_us_per_sequence x decoding
//          sequences + decode_ns_per_context_token x context tokens of the decoding sequences
//
// Where speculative decoding computes more than one token for a sequence, each counts as a decoding
// sequence; the context is read once.
//
// For engines whose step times somebody measured and fitted, and for tests: with the right
// coefficients a replica is an M/D/1 or M/M/c queue with known answers.

#pragma once

#include <memory>

#include "replica/latency/latency_model.h"
#include "replica/latency/latency_scales.h"

namespace inferscale {

struct LinearLatencyOptions {
  double step_us = 0;
  double prefill_us_per_token = 0;
  double decode_us_per_sequence = 0;
  double decode_ns_per_context_token = 0;
};

std::unique_ptr<LatencyModel> make_linear(const LinearLatencyOptions& options,
                                          const LatencyScales& scales);

}  // namespace inferscale
