// How long an answer is probably going to be, as far as one can say at the door.
//
//   max_tokens        what the caller asked for at most; where it did not say, the constant
//   constant          always the same
//   tenant_quantile   a quantile of the tenant's answers so far; before the first one, max_tokens
//   session_quantile  likewise of the session's
//   oracle            the truth, from whoever drives a simulation
//
// Quantiles are learned online, one number for each caller: after an answer of n tokens the
// estimate q moves by step x p when n > q and by -step x (1 - p) otherwise, where the step is a
// share of q (a stochastic approximation of the p-quantile; H. Robbins and S. Monro, "A stochastic
// approximation method", Ann. Math. Statist. 22, 1951). A prediction never exceeds max_tokens.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/request_view.h"

namespace inferscale {

struct PredictorOptions {
  OutputPredictor kind = OutputPredictor::kMaxTokens;
  TokenCount constant = 256;
  double quantile = 0.9;
  std::int64_t most_callers = 100'000;  // whose quantiles are remembered; then the oldest is lost
  // kOracle: the true length. Only whoever drives a simulation has it.
  std::function<TokenCount(const RequestView&)> truth;
};

class OutputPrediction {
 public:
  virtual ~OutputPrediction() = default;
  virtual TokenCount predict(const RequestView& request) const = 0;
  virtual void learn(const RequestView& request, TokenCount output_tokens) = 0;
};

std::unique_ptr<OutputPrediction> make_predictor(const PredictorOptions& options);

}  // namespace inferscale
