// A measured system in the words of those who published it: fields as in
// docs/formats/validation_cases.md, read strictly.
//
// Fields that tell nothing that a simulation could use (labels, licences, client details) are taken
// and left aside; each is in one list in described_case.cc. Any other field is an error.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/config_reader.h"

namespace inferscale {

struct DescribedCase {
  SourcePosition at;
  std::string tier;  // the source's own word for how far the figures can be trusted
  std::string model;
  std::string accelerator;
  std::string engine;
  std::string precision;
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  bool mixed_parallelism = false;  // attention or experts are laid out otherwise than the rest
  bool disaggregated = false;
  bool speculative = false;
  bool kv_offload = false;
  std::string policy;  // of admission or fairness; empty: none

  std::optional<std::int64_t> max_num_seqs;
  std::optional<std::int64_t> max_num_batched_tokens;
  std::optional<std::int64_t> kv_cache_tokens;
  std::optional<double> gpu_memory_utilization;
  std::optional<bool> prefix_caching;

  std::string arrival_mode;
  bool on_off = false;
  std::optional<double> rate_rps;
  std::optional<double> duration_s;
  std::optional<std::int64_t> concurrency;
  std::optional<std::int64_t> requests;
  std::int64_t failed = 0;  // requests without an answer

  std::optional<double> prompt_tokens;  // means
  std::optional<double> output_tokens;
  std::optional<double> prompt_cv;
  std::optional<double> output_cv;
  std::string workload_kind;
  std::optional<ConfigNode> slo;  // as a configuration's `slo`
};

// Reads these fields, and marks those left aside as known; `reader` is not finished. The first
// error is kept in its session.
DescribedCase read_described_case(ConfigReader& reader);

}  // namespace inferscale
