// From a system in its publisher's words to the configuration that stands for it.
//
// Names go through case_names.h, `tp` to parallel.tensor, limits to the engine's keys of the same
// name, KV blocks to kv_cache_tokens. An open stream is Poisson (or evenly spaced: open-uniform); a
// burst and a batch are requests that come within n microseconds. What had to be assumed is said.

#pragma once

#include <expected>
#include <string>
#include <vector>

#include "sim/run_config.h"
#include "study/validation/described_case.h"
#include "study/validation/validate_options.h"
#include "study/validation/validation_case.h"

namespace inferscale {

struct MappedCase {
  ConfigNode config;
  LengthKnowledge lengths = LengthKnowledge::kGiven;
  std::vector<std::string> assumptions;
  LoadEvidence load;  // of the way in which requests come
};

// Or the first reason why nothing stands for it.
std::expected<MappedCase, NotSimulated> map_described_case(const DescribedCase& described,
                                                           const ValidateOptions& options,
                                                           const ModelResolver& resolve_model);

}  // namespace inferscale
