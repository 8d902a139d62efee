// The `study` part of a configuration: what studies ask of the runs that it describes. `simulate`
// reads it too, so that a misspelt key is an error everywhere, and uses nothing of it.
//
// The keys of each study are read beside it (capacity_options.h and so on), and listed here.

#pragma once

#include <cstdint>
#include <optional>

#include "base/config_reader.h"
#include "study/ab_options.h"
#include "study/capacity_options.h"
#include "study/explore_options.h"
#include "study/sensitivity_options.h"
#include "study/validate_options.h"

namespace inferscale {

struct StudyOptions {
  std::optional<std::int64_t> repeats;  // `repeats`; nothing: each study's own number
  CapacityOptions capacity;
  ExploreOptions explore;
  AbOptions ab;
  SensitivityOptions sensitivity;
  ValidateOptions validate;
};

// Reads `repeats` and `study` of the whole configuration.
StudyOptions read_study_options(ConfigReader& root);

}  // namespace inferscale
