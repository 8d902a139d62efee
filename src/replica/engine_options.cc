#include "replica/engine_options.h"

namespace inferscale {

namespace {

void read_memory(ConfigReader& engine, EngineOptions& options) {
  options.kv_block_tokens =
      engine.integer("kv_block_tokens", {.fallback = options.kv_block_tokens,
                                         .min = 1,
                                         .max = 4096,
                                         .unit = "tokens",
                                         .doc = "tokens of one block of the paged KV cache"});
  options.gpu_memory_utilization =
      engine.number("gpu_memory_utilization",
                    {.fallback = options.gpu_memory_utilization,
                     .min = 0,
                     .max = 1,
                     .above_min = true,
                     .unit = "fraction",
                     .doc = "part of the accelerator's memory that the engine may use"});
  engine.only("prefix_caching", "false", "prefixes are not reused in this version");
  options.kv_cache_tokens = engine.optional_integer(
      "kv_cache_tokens",
      {.min = 1,
       .max = 1'000'000'000'000,
       .unit = "tokens",
       .doc = "size of the KV cache, cut to whole blocks; null: what memory leaves"});
}

}  // namespace

EngineOptions read_engine_options(ConfigReader& deployment) {
  ConfigReader engine = deployment.map("engine", "the engine's own limits, as it is started");
  EngineOptions options;
  const std::string scheduler =
      engine.choice("scheduler", {"continuous_fcfs", "static_fcfs"}, "continuous_fcfs",
                    "which waiting requests join the batch, and when (docs/schedulers)");
  options.scheduler = scheduler_by_name(scheduler).value_or(options.scheduler);
  options.max_num_seqs = engine.integer("max_num_seqs", {.fallback = options.max_num_seqs,
                                                         .min = 1,
                                                         .max = 1'000'000,
                                                         .unit = "sequences",
                                                         .doc = "most sequences in the batch"});
  options.max_num_batched_tokens =
      engine.integer("max_num_batched_tokens",
                     {.fallback = options.max_num_batched_tokens,
                      .min = 1,
                      .max = 100'000'000,
                      .unit = "tokens",
                      .doc = "most prompt tokens in one prefill step; a longer prompt gets a step "
                             "of its own"});
  read_memory(engine, options);
  options.max_model_len = engine.optional_integer(
      "max_model_len",
      {.min = 2,
       .max = 1'000'000'000,
       .unit = "tokens",
       .doc = "most prompt plus requested output tokens of a request, longer ones are refused; "
              "null: the model's context length"});
  options.max_queued = engine.optional_integer(
      "max_queued", {.min = 1,
                     .max = 1'000'000'000,
                     .unit = "requests",
                     .doc = "most waiting requests, more are refused; null: unlimited"});
  engine.finish();
  if (options.kv_cache_tokens && *options.kv_cache_tokens < options.kv_block_tokens) {
    engine.fail("kv_cache_tokens", "expected at least one block of kv_block_tokens (" +
                                       std::to_string(options.kv_block_tokens) + ") tokens");
  }
  return options;
}

}  // namespace inferscale
