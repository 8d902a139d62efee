#include "study/sensitivity_options.h"

namespace inferscale {

SensitivityOptions read_sensitivity_options(ConfigReader& study) {
  ConfigReader sensitivity = study.map("sensitivity", "whether a conclusion survives model error");
  SensitivityOptions options;
  options.band = sensitivity.number(
      "band", {.fallback = options.band,
               .min = 0,
               .max = 10,
               .above_min = true,
               .doc = "scales of prefill, decode and transfer times are drawn from "
                      "[1 / (1 + band), 1 + band]"});
  options.draws = sensitivity.integer(
      "draws",
      {.fallback = options.draws, .min = 1, .max = 1'000'000, .doc = "draws of the three scales"});
  sensitivity.finish();
  return options;
}

}  // namespace inferscale
