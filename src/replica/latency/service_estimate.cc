#include "replica/latency/service_estimate.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {
namespace {

// Query-key pairs of a prompt of `tokens`, each attending to at most `reach` tokens.
double pairs_within(TokenCount tokens, TokenCount reach) {
  const double rising = static_cast<double>(std::min(tokens, reach));
  const double level = static_cast<double>(std::max<TokenCount>(0, tokens - reach));
  return rising * (rising + 1.0) / 2.0 + level * static_cast<double>(reach);
}

}  // namespace

ServiceEstimate service_estimate(const LatencyModel& latency, const ReferenceLoad& load) {
  CHECK(load.max_num_seqs >= 1 && load.max_num_batched_tokens >= 1 && load.typical_context >= 1)
      << load.max_num_seqs << ", " << load.max_num_batched_tokens << ", " << load.typical_context;
  const TokenCount prompt = std::min(load.typical_context, load.max_num_batched_tokens);
  const std::int64_t prompts = std::min(load.max_num_seqs, load.max_num_batched_tokens / prompt);
  const TokenCount reach = load.window > 0 ? load.window : prompt;
  const double count = static_cast<double>(prompts);
  const StepShape prefill{.prefill_sequences = prompts,
                          .prefill_tokens = prompts * prompt,
                          .prefill_pairs = count * pairs_within(prompt, prompt),
                          .prefill_window_pairs = count * pairs_within(prompt, reach)};
  const std::int64_t sequences = (load.max_num_seqs + 1) / 2;
  const TokenCount context = load.typical_context;
  const bool grows = load.window == 0 || context < load.window;
  const StepShape decode{
      .decode_sequences = sequences,
      .decode_context = sequences * context,
      .decode_window_context =
          sequences * (load.window > 0 ? std::min(context, load.window) : context),
      .decode_growing = grows ? sequences : 0};
  return {.prefill_ns_per_token =
              latency.cost(prefill).first_ns / static_cast<double>(prefill.prefill_tokens),
          .decode_ns_per_token = latency.cost(decode).first_ns};
}

}  // namespace inferscale
