// `study.ab`: how often two configurations are compared, and how sure the verdict has to be.

#pragma once

#include <cstdint>
#include <optional>

#include "base/config_reader.h"

namespace inferscale {

struct AbOptions {
  std::int64_t resamples = 10'000;  // of the bootstrap
  // With a budget, repetitions are added until the interval of each judged metric is decided.
  std::optional<std::int64_t> max_repeats;
};

AbOptions read_ab_options(ConfigReader& study);

}  // namespace inferscale
