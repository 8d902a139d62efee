// What a real engine recorded of one run: `llmservingsim-bench`, vLLM 0.19.0 on an RTX 4090.
//
// 300 requests of a ShareGPT trace at about 10 a second, Llama-3.1-8B, in 41,408 tokens of KV
// cache: far more than they hold, so the engine preempts and most requests wait minutes. For each
// request the engine's own clock says when it was queued, first scheduled, and when its first and
// last token came; once a second it says how many run and wait. Source: casys-kaist/LLMServingSim,
// bench/examples/RTX4090/Llama-3.1-8B (MIT).

#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace inferscale {

struct EngineRequest {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  // When the load generator sent it, on the engine's clock (see `read_engine_run`).
  Instant sent;
  Instant queued;
  Instant scheduled;
  Instant first_token;
  Instant last_token;
};

struct EngineTick {
  Instant at;
  double prompt_tokens_per_s = 0;  // over the second before
  double output_tokens_per_s = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  double kv_used_fraction = 0;
};

// The configuration that the engine resolved, as far as scheduling goes.
struct EngineSettings {
  std::int64_t kv_blocks = 0;
  std::int64_t block_tokens = 0;
  std::int64_t max_num_seqs = 0;
  std::int64_t max_num_batched_tokens = 0;
  std::int64_t max_model_len = 0;
  std::int64_t long_prefill_token_threshold = 0;
  bool prefix_caching = false;
};

struct EngineRun {
  EngineSettings settings;
  std::vector<EngineRequest> requests;  // in the order in which they were sent
  std::vector<EngineTick> ticks;
};

// Reads the run from the data folder. The engine takes requests up between two steps, so `queued`
// is up to a step after the request was sent. `sent` is the instant that the trace gives, moved by
// the one offset between the two clocks for which no request is queued before it is sent and the
// quickest is queued at once. Time starts when the first is sent.
Result<EngineRun> read_engine_run();

}  // namespace inferscale
