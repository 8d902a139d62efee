// Step times from a profile of the engine's layers: the latency model that forces measured times.
//
// The profile (LLMServingSim's for vLLM 0.19.0, Llama-3.1-8B on an RTX 4090; MIT) has the time of
// each kind of layer, measured in the engine: dense layers by tokens, attention by (prompt tokens
// computed, tokens in the cache before them, decoding sequences, context of each), output layers by
// sequences. A step is
//
//   layers x (dense layers of one + attention) + embedding + last norm + head + sampler
//
// with values between grid points interpolated linearly in every axis and the last cell carried on
// beyond the grid. Two simplifications. The decoding sequences all have the mean context. Several
// prompts in a step are one chunk of as many tokens, after as many cached tokens as give the same
// query-key pairs, or none where they have fewer pairs than one prompt of that length.
// No overhead is added: this engine plans a step while the one before runs.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

// Reads the three tables `stem`_{dense,attention,per_sequence}.csv.gz. `layers` of the model; each
// has two norms.
Result<std::unique_ptr<LatencyModel>> read_profile_latency(const std::string& stem,
                                                           std::int64_t layers);

}  // namespace inferscale
