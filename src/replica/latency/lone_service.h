// How long a call takes that has a replica to itself: the yardstick for what waiting, sharing a
// batch and lost history cost it.
//
//   prefill  steps of at most max_num_batched_tokens of the prompt's uncached tokens
//   decode   a step for each further output token, at batch size 1
//
// Sums of the latency model's costs before rounding to nanoseconds.

#pragma once

#include "replica/latency/latency_model.h"

namespace inferscale {

class LoneService {
 public:
  // `window`: the model's sliding window, 0 for none. `latency` outlives this.
  // REQUIRES: most_step_tokens >= 1.
  LoneService(const LatencyModel& latency, TokenCount most_step_tokens, TokenCount window)
      : latency_(latency), most_step_tokens_(most_step_tokens), window_(window) {}

  // Of a prompt's tokens behind the first `cached`. REQUIRES: 0 <= cached <= prompt.
  double prefill_ns(TokenCount cached, TokenCount prompt) const;
  // Of the output tokens after the first. REQUIRES: output >= 1.
  double decode_ns(TokenCount prompt, TokenCount output) const;

 private:
  const LatencyModel& latency_;
  TokenCount most_step_tokens_;
  TokenCount window_;
};

}  // namespace inferscale
