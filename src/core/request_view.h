// What an admission policy may know of an attempt at the door.
//
// It never holds the true output length: nobody knows it there. Callers are known by keys: stable
// 64-bit numbers that stand for their names on every machine (0: nobody). Plain data, 136 bytes,
// refers to nothing.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

using CallerKey = std::uint64_t;
inline constexpr CallerKey kNoCaller = 0;

// Where the predicted output length comes from.
enum class OutputPredictor : std::uint8_t {
  kNone,             // nobody predicts; predicted_output_tokens is 0
  kMaxTokens,        // what the caller asked for at most
  kConstant,         // always the same
  kTenantQuantile,   // a quantile of the tenant's answers so far
  kSessionQuantile,  // a quantile of the session's answers so far
  kOracle,           // the truth: in simulation only
};
std::string_view predictor_name(OutputPredictor predictor);

struct RequestView {
  // The same for all attempts of a request whose identity is known; else of the attempt alone.
  std::uint64_t request = 0;
  std::uint32_t attempt = 0;    // from 0
  std::uint32_t sequences = 1;  // answers that it asks for: n, best_of, a list of prompts
  CallerKey tenant = kNoCaller;
  CallerKey session = kNoCaller;
  CallerKey root_session = kNoCaller;  // of a sub-agent's session: the session that it belongs to
  TokenCount prompt_tokens = 0;
  TokenCount reusable_tokens = 0;  // of the prompt, probably in a prefix cache; 0: not known
  TokenCount max_tokens = 0;       // that the caller asked for; 0: it did not say
  TokenCount predicted_output_tokens = 0;  // filled in by the gate's predictor
  Instant arrival;                         // of this attempt
  // Absolute: when its first token is due, counted from the first attempt's scheduled instant.
  Instant ttft_deadline = Instant::never();
  Duration itl_target;           // zero: none
  Duration held;                 // what this attempt has spent at the door so far
  std::uint64_t body_bytes = 0;  // that holding it takes; 0: not known
  std::int32_t priority = 0;     // higher is better
  std::uint8_t slo_class = 0;    // index of its SLO class
  OutputPredictor predictor = OutputPredictor::kNone;
  bool prompt_is_estimated = false;  // prompt_tokens was not counted by the model's tokenizer
  bool streamed = true;
  bool identity_is_known = true;  // false: a further attempt can't be told from a new request
  bool is_rerouted = false;       // another gate admitted this attempt, whose replica failed

  TokenCount tokens() const {
    return prompt_tokens + predicted_output_tokens * static_cast<TokenCount>(sequences);
  }
  TokenCount tokens_to_compute() const { return prompt_tokens - reusable_tokens; }
  bool has_deadline() const { return ttft_deadline != Instant::never(); }
};

}  // namespace inferscale
