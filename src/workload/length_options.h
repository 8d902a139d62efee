// The keys of distributions, wherever a configuration has one: of token counts and other whole
// numbers, and of times.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/config_reader.h"
#include "workload/delays.h"
#include "workload/lengths.h"

namespace inferscale {

struct LengthWords {
  std::string_view unit = "tokens";
  std::uint32_t most = kMostTokens;
};

// Both read and finish the map.
LengthOptions read_length_options(ConfigReader length, const LengthWords& words = {});
// In seconds.
DelayOptions read_delay_options(ConfigReader delay);

}  // namespace inferscale
