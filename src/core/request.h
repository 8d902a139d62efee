// A request: one call of the model, as it arrives.

#pragma once

#include <cstdint>

#include "base/time.h"

namespace inferscale {

using RequestId = std::uint32_t;  // dense, from 0, in the order of arrival
using TokenCount = std::int64_t;  // tokens, sums of tokens
using BlockCount = std::int64_t;  // KV blocks of `kv_block_tokens` tokens each

struct Request {
  RequestId id = 0;
  std::uint32_t prompt_tokens = 0;  // at least 1
  // What the engine is going to generate, at least 1. Nobody knows it before the end: only the
  // replica, which plays the model's part, reads it.
  std::uint32_t output_tokens = 0;
  // The limit that the caller asked for (`max_tokens`), known at arrival; at least output_tokens.
  // Workloads that state one length generate exactly what was asked for.
  std::uint32_t max_tokens = 0;
  Instant arrival;
};

}  // namespace inferscale
