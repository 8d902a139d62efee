#include "sim/deployment.h"

namespace inferscale {

Result<Deployment> derive_deployment(const DeploymentConfig& config, const Slo& slo) {
  const EngineOptions& engine = config.engine;
  Deployment deployment;
  const Result<KvCapacity> capacity =
      kv_capacity(config.model, config.hardware, config.shape,
                  {.gpu_memory_utilization = engine.gpu_memory_utilization,
                   .kv_block_tokens = engine.kv_block_tokens,
                   .max_num_batched_tokens = engine.max_num_batched_tokens,
                   .max_num_seqs = engine.max_num_seqs});
  if (capacity) deployment.memory = *capacity;
  if (!capacity && !engine.kv_cache_tokens) return std::unexpected(capacity.error());
  const BlockCount blocks =
      engine.kv_cache_tokens ? *engine.kv_cache_tokens / engine.kv_block_tokens : capacity->blocks;
  deployment.replica = {.scheduler = engine.scheduler,
                        .max_num_seqs = engine.max_num_seqs,
                        .max_num_batched_tokens = engine.max_num_batched_tokens,
                        .layout = {.block_tokens = engine.kv_block_tokens},
                        .kv_blocks = blocks,
                        .max_model_len = engine.max_model_len.value_or(config.model.max_context),
                        .max_queued = engine.max_queued,
                        .itl_limit = slo.itl};
  deployment.latency = make_latency(config.latency, config.model, config.hardware, config.shape);
  deployment.kv_bytes_per_token = config.shape.kv_bytes_per_token(config.model);
  deployment.accelerators = config.shape.tensor;
  return deployment;
}

}  // namespace inferscale
