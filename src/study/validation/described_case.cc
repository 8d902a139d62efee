#include "study/validation/described_case.h"

#include <algorithm>
#include <array>

#include "core/slo_options.h"

namespace inferscale {
namespace {

constexpr std::string_view kLeftAside = "left aside";

// Said of a case by its source, and of no use to a simulation.
constexpr std::array<std::string_view, 13> kCaseFieldsLeftAside = {
    "admitted",
    "chunked_prefill",
    "gpu_label",
    "hardware_text",
    "license",
    "little_law_ratio",
    "max_model_len",
    "n_clients",
    "notes",
    "num_scheduler_steps",
    "output_tokens_reported",
    "rejected",
    "reported_time_per_output_token_ms",
};
constexpr std::array<std::string_view, 4> kArrivalFieldsLeftAside = {"achieved_rps", "file",
                                                                     "per_client_rps", "warmup_s"};
constexpr std::array<std::string_view, 6> kWorkloadFieldsLeftAside = {
    "multi_turn", "n_prefixes", "profile", "question_len", "system_prompt_len", "users_per_prefix"};

constexpr std::int64_t kMost = 1'000'000'000;

// Whether a key that may hold anything says something: not null, not false.
bool says_something(ConfigReader& reader, std::string_view key) {
  const ConfigNode* value = reader.raw(key, "any", kLeftAside);
  return value != nullptr && !value->is_null() && value->text() != "false";
}

// Sources write "" where they say nothing.
std::string text_or_empty(ConfigReader& reader, std::string_view key, std::string_view doc) {
  const ConfigNode* value = reader.raw(key, "text", doc);
  return value == nullptr ? std::string() : value->text();
}

std::string policy_of(ConfigReader& reader) {
  const ConfigNode* value = reader.raw("policy", "text or map", "admission or fairness");
  if (value == nullptr || value->is_null()) return {};
  for (const std::string_view key : {"name", "scheduler"}) {
    const ConfigNode* name = value->find(key);
    if (name != nullptr) return name->text() == "no_admission" ? "" : name->text();
  }
  return value->is_map() ? "a policy" : value->text();
}

void read_arrival(ConfigReader& reader, DescribedCase& out) {
  ConfigReader arrival = reader.map("arrival", "when requests came");
  out.arrival_mode = arrival.text("mode", "", "how requests came");
  out.rate_rps = arrival.optional_number(
      "rate_rps", {.min = 0, .above_min = true, .unit = "requests/s", .doc = "mean rate"});
  out.duration_s = arrival.optional_number("duration_s", {.min = 0, .unit = "s", .doc = "length"});
  out.concurrency = arrival.optional_integer(
      "concurrency", {.min = 1, .max = kMost, .doc = "requests at the same time"});
  out.on_off = says_something(arrival, "on_off_s");
  for (const std::string_view key : kArrivalFieldsLeftAside) arrival.raw(key, "any", kLeftAside);
  arrival.finish();
  if (!out.arrival_mode.empty()) return;
  arrival.fail("mode",
               "missing: expected open-poisson or open-uniform (with rate_rps), burst, batch, or "
               "closed (which is listed, not simulated)");
}

void read_layout(ConfigReader& reader, DescribedCase& out) {
  // Sources write 0 for what a system does not have.
  const auto count = [&](std::string_view key) {
    const std::int64_t written = reader.integer(
        key, {.fallback = 1, .min = 0, .max = 65536, .unit = "accelerators", .doc = "layout"});
    return std::max<std::int64_t>(written, 1);
  };
  out.tensor = count("tp");
  out.pipeline = count("pp");
  out.data = count("dp");
  const bool attention = count("attention_dp") > 1;
  const bool experts = count("moe_ep") > 1;
  out.mixed_parallelism = attention || experts;
  out.disaggregated = says_something(reader, "disagg");
  out.speculative = says_something(reader, "speculative");
  out.kv_offload = says_something(reader, "kv_cpu_offload");
}

void read_engine(ConfigReader& reader, DescribedCase& out) {
  const auto limit = [&](std::string_view key, std::string_view unit) {
    return reader.optional_integer(
        key, {.min = 1, .max = kMost, .unit = unit, .doc = "the engine's own limit"});
  };
  out.engine = reader.text("engine", std::nullopt, "the engine and its version");
  out.precision = text_or_empty(reader, "precision", "format of the weights");
  out.max_num_seqs = limit("max_num_seqs", "sequences");
  out.max_num_batched_tokens = limit("max_num_batched_tokens", "tokens");
  const auto blocks = limit("total_kv_blocks", "blocks");
  const std::int64_t block = limit("kv_block_size", "tokens").value_or(16);
  const auto pool = limit("kv_pool_tokens", "tokens");
  if (blocks) out.kv_cache_tokens = *blocks * block;
  if (pool) out.kv_cache_tokens = pool;
  out.gpu_memory_utilization = reader.optional_number(
      "gpu_memory_utilization", {.min = 0, .max = 1, .above_min = true, .doc = "part of memory"});
  if (reader.has("prefix_caching")) {
    out.prefix_caching = reader.boolean("prefix_caching", false, "prompts are kept");
  } else {
    reader.raw("prefix_caching", "true or false", "prompts are kept");
  }
}

void read_workload(ConfigReader& reader, DescribedCase& out) {
  const auto length = [&](std::string_view key) {
    return reader.optional_number(
        key, {.min = 1, .max = 10'000'000, .unit = "tokens", .doc = "mean length"});
  };
  const auto spread = [&](std::string_view key) {
    return reader.optional_number(
        key, {.min = 0, .max = 10, .unit = "ratio", .doc = "deviation over mean of the lengths"});
  };
  out.prompt_tokens = length("prompt_tokens");
  out.output_tokens = length("output_tokens");
  out.prompt_cv = spread("prompt_tokens_cv");
  out.output_cv = spread("output_tokens_cv");
  out.requests = reader.optional_integer("n_requests", {.min = 1, .max = 100'000'000, .doc = "n"});
  for (const std::string_view key : {"n_failed", "n_aborted"}) {
    out.failed += reader.integer(key, {.fallback = 0, .min = 0, .max = kMost, .doc = "no answer"});
  }
  ConfigReader workload = reader.map("workload", "what the requests were");
  out.workload_kind = text_or_empty(workload, "kind", "kind of the workload");
  for (const std::string_view key : kWorkloadFieldsLeftAside) workload.raw(key, "any", kLeftAside);
  workload.finish();
  read_slo(reader);  // so that a wrong target is an error of the file
  if (const ConfigNode* slo = reader.raw("slo", "map", "targets that goodput was judged by")) {
    if (!slo->is_null()) out.slo = *slo;
  }
}

}  // namespace

DescribedCase read_described_case(ConfigReader& reader) {
  DescribedCase out;
  out.at = reader.position();
  out.tier = text_or_empty(reader, "tier", "how far the source trusts its figures");
  out.model = reader.text("model", std::nullopt, "the model");
  out.accelerator = reader.text("gpu", std::nullopt, "the accelerator");
  read_layout(reader, out);
  read_engine(reader, out);
  read_arrival(reader, out);
  read_workload(reader, out);
  out.policy = policy_of(reader);
  for (const std::string_view key : kCaseFieldsLeftAside) reader.raw(key, "any", kLeftAside);
  reader.raw("serving_cmd", "any", kLeftAside);
  return out;
}

}  // namespace inferscale
