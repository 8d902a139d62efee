// A bucket for each caller that fills at a constant rate; an admission takes its cost out of it.
//
//   level(t) = min(capacity, level(t0) + refill_per_s (t - t0))
//   refuse  <=>  level < cost
//
// It allows a burst of `capacity`, and in the long run `refill_per_s`. A request whose cost is more
// than the capacity can never be admitted, and is rejected. The bucket of a caller that was never
// seen, or was forgotten, is full. Constant time; memory for at most `most_callers` callers.

#pragma once

#include <cstdint>

#include "admission/policies/limit_scope.h"
#include "admission/registry.h"

namespace inferscale {

enum class BucketCost : std::uint8_t {
  kRequest,       // one
  kPromptTokens,  // tokens of the prompt
  kTokens,        // these and the predicted output
};

struct TokenBucketOptions {
  double capacity = 10'000;
  double refill_per_s = 1'000;
  BucketCost cost = BucketCost::kPromptTokens;
  LimitScope per = LimitScope::kPool;
  std::int64_t most_callers = kMostCallers;
  bool defers = false;  // else it rejects
};

const PolicyCard& token_bucket_card();
PolicyFactory read_token_bucket(ConfigReader& parameters);

}  // namespace inferscale
