// `study.ab`: how often two configurations are compared, and how sure the verdict has to be.

#pragma once

#include <cstdint>
#include <optional>

#include "base/config_reader.h"

namespace inferscale {

// What the treatment's seeds are shifted by without common random numbers: beyond the most
// repetitions that there can be.
constexpr std::uint64_t kIndependentSeeds = 1'000'000;

struct AbOptions {
  std::int64_t resamples = 10'000;  // of the bootstrap
  // With a budget, repetitions are added until each headline metric is decided, or known to within
  // `half_width` of the baseline's mean.
  std::optional<std::int64_t> max_repeats;
  double half_width = 0.01;
  bool common_random_numbers = true;  // the same seed for both on each repetition
};

AbOptions read_ab_options(ConfigReader& study);

}  // namespace inferscale
