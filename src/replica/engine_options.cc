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
  options.kv_watermark =
      engine.number("kv_watermark",
                    {.fallback = options.kv_watermark,
                     .min = 0,
                     .max = 0.99,
                     .unit = "fraction",
                     .doc = "part of the KV blocks that an admission leaves free, unless the batch "
                            "is empty"});
  options.prefix_caching = engine.boolean(
      "prefix_caching", options.prefix_caching,
      "computed prompts stay readable while their blocks are free, and the prefix of "
      "workload.shared_prefix stays in the cache (docs/prefix_cache.md)");
  options.kv_cache_tokens = engine.optional_integer(
      "kv_cache_tokens",
      {.min = 1,
       .max = 1'000'000'000'000,
       .unit = "tokens",
       .doc = "size of the KV cache, cut to whole blocks; null: what memory leaves"});
}

void read_scheduler(ConfigReader& engine, EngineOptions& options) {
  const std::string scheduler = engine.choice(
      "scheduler",
      {"continuous_fcfs", "static_fcfs", "continuous_sjf", "continuous_slo", "chunked_slo", "vllm",
       "sglang"},
      "continuous_fcfs", "which waiting requests join the batch, and when (docs/schedulers)");
  options.scheduler = scheduler_by_name(scheduler).value_or(options.scheduler);
  const SchedulerRules& rules = rules_of(options.scheduler);
  const std::string policy =
      engine.choice("scheduling_policy", {"fcfs", "priority"}, "fcfs",
                    "priority: requests of higher priority first (schedulers vllm and sglang)");
  options.by_priority = policy == "priority";
  if (options.by_priority && !rules.knows_priority) {
    engine.fail("scheduling_policy",
                "expected fcfs: only the schedulers vllm and sglang know "
                "priorities, not " +
                    scheduler);
  }
  options.long_prefill_token_threshold = engine.integer(
      "long_prefill_token_threshold",
      {.fallback = options.long_prefill_token_threshold,
       .min = 0,
       .max = 100'000'000,
       .unit = "tokens",
       .doc =
           "most prompt tokens of one sequence in a mixed step (schedulers vllm and chunked_slo); "
           "0: as many as the step has room for"});
  if (options.long_prefill_token_threshold > 0 && !rules.mixed) {
    engine.fail("long_prefill_token_threshold",
                "expected 0: the scheduler " + scheduler + " does not mix prompts with decodes");
  }
}

// What a step must have room for, whatever is in it.
void check_budget(ConfigReader& engine, const EngineOptions& options) {
  const SchedulerRules& rules = rules_of(options.scheduler);
  if (rules.mixed && options.max_num_batched_tokens < options.max_num_seqs) {
    engine.fail("max_num_batched_tokens", "expected at least max_num_seqs (" +
                                              std::to_string(options.max_num_seqs) +
                                              "): the scheduler " + std::string(rules.name) +
                                              " gives every running sequence a token of each step");
  }
  if (rules.expects_output && options.max_num_batched_tokens < options.kv_block_tokens) {
    engine.fail("max_num_batched_tokens", "expected at least kv_block_tokens (" +
                                              std::to_string(options.kv_block_tokens) +
                                              "): chunks are whole blocks");
  }
}

}  // namespace

EngineOptions read_engine_options(ConfigReader& deployment) {
  ConfigReader engine = deployment.map("engine", "the engine's own limits, as it is started");
  EngineOptions options;
  read_scheduler(engine, options);
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
                      .doc = "most tokens in one step that prefills (decodes included where steps "
                             "mix); where prompts are not chunked a longer one gets its own step"});
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
  options.speculative = read_speculative(engine);
  options.service = read_service_mode(engine);
  options.retention = read_kv_retention(engine);
  engine.finish();
  check_budget(engine, options);
  if (options.kv_cache_tokens && *options.kv_cache_tokens < options.kv_block_tokens) {
    engine.fail("kv_cache_tokens", "expected at least one block of kv_block_tokens (" +
                                       std::to_string(options.kv_block_tokens) + ") tokens");
  }
  return options;
}

}  // namespace inferscale
