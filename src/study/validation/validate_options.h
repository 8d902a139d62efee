// `study.validate`: what is assumed of measured cases that do not say it, and where loads are
// called light, knee and overload.

#pragma once

#include "base/config_reader.h"

namespace inferscale {

struct ValidateOptions {
  // Deviation over mean of lengths of which a case tells the mean only; 0: all the same. The
  // defaults are those of the Azure conversation trace of 2023 (0.96 and 0.77), rounded.
  double prompt_cv = 1;
  double output_cv = 0.8;
  double knee_from = 0.7;     // load factors below it are light
  double overload_from = 1;   // from it on they are overload
  double served_below = 0.9;  // measured throughput below this part of what came: overload
};

ValidateOptions read_validate_options(ConfigReader& study);

}  // namespace inferscale
