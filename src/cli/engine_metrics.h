// Where engines publish what the signals are made of: documentation, for `inferscale signals`.
//
// A name that an engine does not have is empty: the signal is unknown there, never zero. Names are
// those of vLLM's V1 engine (0.11 and later), SGLang with --enable-metrics, trtllm-serve's
// /prometheus/metrics, and llama.cpp's server with --metrics.

#pragma once

#include <array>
#include <string_view>

#include "core/signal.h"

namespace inferscale {

struct EngineMetrics {
  Signal signal;
  std::string_view vllm;
  std::string_view sglang;
  std::string_view tensorrt_llm;
  std::string_view llama_cpp;
};

inline constexpr std::array<EngineMetrics, 7> kEngineMetrics = {{
    {Signal::kKvUsedFraction, "vllm:kv_cache_usage_perc", "sglang:token_usage",
     "trtllm_kv_cache_utilization", "/slots: tokens of busy slots / n_ctx of all"},
    {Signal::kKvFreeTokens, "vllm:cache_config_info{kv_cache_size_tokens}",
     "sglang:max_total_num_tokens", "trtllm_kv_cache_free_blocks, _tokens_per_block",
     "/slots: n_ctx"},
    {Signal::kQueueDepth, "vllm:num_requests_waiting", "sglang:num_queue_reqs",
     "trtllm_num_requests_waiting", "llamacpp:requests_deferred"},
    {Signal::kRunning, "vllm:num_requests_running", "sglang:num_running_reqs",
     "trtllm_num_requests_running", "llamacpp:requests_processing"},
    {Signal::kPrefixHitRate, "vllm:prefix_cache_{hits,queries}_total",
     "sglang:{cached,prompt}_tokens_total", "", ""},
    {Signal::kPreemptionRate, "vllm:num_preemptions_total", "sglang:num_retracted_requests_total",
     "", ""},
    {Signal::kDecodeTokensPerS, "vllm:generation_tokens_total", "sglang:generation_tokens_total",
     "trtllm_generation_tokens_total", "llamacpp:tokens_predicted_total"},
}};

}  // namespace inferscale
