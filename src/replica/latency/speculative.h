// Speculative decoding: a draft proposes k tokens for each sequence, one step of the model verifies
// them together, and those up to the first that it rejects are kept, with one of its own.
//
// With each proposal accepted with probability a, independently, a verification yields
//
//   e = 1 + a + a^2 + ... + a^k = (1 - a^(k+1)) / (1 - a)
//
// tokens of a sequence in expectation (Leviathan, Kalman, Matias 2023, equation 1). A step of the
// replica gives each sequence one token, so it is charged an e-th of what a verification and its
// drafts take:
//
//   decode step = (step with k + 1 tokens for each sequence + k c (step with one)) / e
//
// c is what drafting one token for the batch takes, as a part of a decode step of the model. Tokens
// are thus spread evenly: a real engine emits e at once and then nothing for a step, so mean times
// are right and gaps between tokens smoother than real ones. The same a holds for all; prompts,
// lengths and batch size do not change it.
//
// Mixed steps: prompts are no cheaper for speculation, so what they add to the verification is
// charged whole, on top of the decode step above. Over a run that is the engine's total, which pays
// for each prompt chunk once and for each e tokens once. But a mixed step then gives a sequence one
// token and not e: where nearly all steps are mixed, prompts are served earlier and answers later
// than in the engine, by up to e tokens a step. Steps without decoding sequences are as without
// speculation.
//
// Not counted: memory of the draft model and of its KV cache, and the draft's own prefill.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/config_reader.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

struct SpeculativeOptions {
  std::int64_t draft_tokens = 1;  // k, at least 1
  double acceptance_rate = 0;     // a, 0 to 1
  double draft_cost = 0.05;       // c
};

// `speculative`: null, or a map. Nothing when it is null.
std::optional<SpeculativeOptions> read_speculative(ConfigReader& engine);

// e, between 1 and k + 1.
double expected_tokens(const SpeculativeOptions& options);

std::unique_ptr<LatencyModel> make_speculative(std::unique_ptr<LatencyModel> target,
                                               const SpeculativeOptions& options);

}  // namespace inferscale
