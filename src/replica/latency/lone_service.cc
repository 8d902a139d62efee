#include "replica/latency/lone_service.h"

#include <algorithm>

namespace inferscale {
double LoneService::prefill_ns(TokenCount cached, TokenCount prompt) const {
  double ns = 0;
  while (cached < prompt) {
    const TokenCount tokens = std::min(most_step_tokens_, prompt - cached);
    StepShape shape;
    add_prompt(cached, tokens, window_, shape);
    ns += latency_.cost(shape).first_ns;
    cached += tokens;
  }
  return ns;
}

double LoneService::decode_ns(TokenCount prompt, TokenCount output) const {
  double ns = 0;
  TokenCount context = prompt + 1;  // that the step attends to, its own token included
  TokenCount left = output - 1;
  while (left > 0) {
    const bool grows = window_ == 0 || context <= window_;
    const StepCost cost = latency_.cost({.decode_sequences = 1,
                                         .decode_context = context,
                                         .decode_window_context = grows ? context : window_,
                                         .decode_growing = grows ? 1 : 0});
    TokenCount steps = std::min<TokenCount>(left, cost.valid_steps);
    if (window_ > 0 && grows) steps = std::min(steps, window_ - context + 1);
    const double k = static_cast<double>(steps);
    ns += k * cost.first_ns + cost.growth_ns * (0.5 * k * (k - 1.0));
    context += steps;
    left -= steps;
  }
  return ns;
}

}  // namespace inferscale
