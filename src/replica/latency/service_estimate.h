// How long a request keeps a replica busy, without looking at the batch: two rates from reference
// steps of the latency model, for schedulers that order by the remaining service.
//
//   prefill_ns_per_token  a step filled with prompts: as many of the typical length as fit in
//                         max_num_batched_tokens (one that is cut to it, when none does) and in the
//                         batch, divided by its tokens
//   decode_ns_per_token   a decode step of half of max_num_seqs (rounded up), each sequence at the
//                         typical length
//
// Half a batch stands for a replica that is neither idle nor full: the estimate orders requests and
// is no prediction. A slack that hangs on it is too large when the batch is fuller.

#pragma once

#include "replica/latency/latency_model.h"
#include "replica/replica.h"

namespace inferscale {

struct ReferenceLoad {
  std::int64_t max_num_seqs = 256;
  TokenCount max_num_batched_tokens = 8192;
  TokenCount typical_context = 1024;  // tokens of a prompt, or of a decoding sequence
  TokenCount window = 0;              // the model's sliding window; 0: none
};

// REQUIRES: all but `window` at least 1.
ServiceEstimate service_estimate(const LatencyModel& latency, const ReferenceLoad& load);

}  // namespace inferscale
