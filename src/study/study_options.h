// The `study` part of a configuration: what studies ask of the runs that it describes. `simulate`
// reads it too, so that a misspelt key is an error everywhere, and uses nothing of it.
//
// The keys of each study are read beside it (capacity_options.h and so on), and listed here.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/config_reader.h"
#include "base/result.h"
#include "study/agents/sweep_options.h"
#include "study/capacity/capacity_options.h"
#include "study/comparison/ab_options.h"
#include "study/comparison/sensitivity_options.h"
#include "study/explore/explore_options.h"
#include "study/tune/tune_options.h"
#include "study/validation/validate_options.h"

namespace inferscale {

struct StudyOptions {
  std::optional<std::int64_t> repeats;  // `repeats`; nothing: each study's own number
  CapacityOptions capacity;
  ExploreOptions explore;
  AbOptions ab;
  SensitivityOptions sensitivity;
  ValidateOptions validate;
  AgentSweepOptions agents;
  TuneOptions tune;
};

// Whether all repetitions of a study that begins at `seed` have seeds that a configuration may
// have; errors name the largest seed for so many repeats.
Result<void> check_seeds(std::uint64_t seed, const StudyOptions& options, const std::string& label);

// Reads `repeats` and `study` of the whole configuration.
StudyOptions read_study_options(ConfigReader& root);

}  // namespace inferscale
