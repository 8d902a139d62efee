// The `deployment.engine` part of a configuration: the limits that the engine itself is started
// with.

#pragma once

#include <cstdint>
#include <optional>

#include "base/config_reader.h"
#include "core/request.h"
#include "replica/batch_scheduler.h"
#include "replica/kv_retention_options.h"
#include "replica/latency/speculative.h"

namespace inferscale {

struct EngineOptions {
  SchedulerKind scheduler = SchedulerKind::kContinuousFcfs;
  std::int64_t max_num_seqs = 256;
  TokenCount max_num_batched_tokens = 8192;
  TokenCount long_prefill_token_threshold = 0;  // 0: none
  bool by_priority = false;
  std::int64_t kv_block_tokens = 16;
  double gpu_memory_utilization = 0.9;
  double kv_watermark = 0;  // fraction of all blocks
  bool prefix_caching = false;
  std::optional<SpeculativeOptions> speculative;
  std::optional<TokenCount> kv_cache_tokens;  // derived from memory when not set
  std::optional<TokenCount> max_model_len;    // the model's own when not set
  std::optional<std::int64_t> max_queued;     // unlimited when not set
  ServiceMode service = ServiceMode::kBatched;
  std::optional<KvRetentionOptions> retention;  // not set: not written
};

EngineOptions read_engine_options(ConfigReader& deployment);

}  // namespace inferscale
