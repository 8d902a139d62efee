// `study.sensitivity`: how far off the latency model is supposed to be.

#pragma once

#include <cstdint>

#include "base/config_reader.h"

namespace inferscale {

struct SensitivityOptions {
  double band = 0.2;  // scales are drawn from [1 / (1 + band), 1 + band]
  std::int64_t draws = 100;
  std::int64_t scan_points = 4;  // looked at on either side of 1, for each scale by itself
};

SensitivityOptions read_sensitivity_options(ConfigReader& study);

}  // namespace inferscale
