#include "study/comparison/sensitivity_options.h"

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
                      "[1 / (1 + band), 1 + band], evenly in the logarithm"});
  options.draws = sensitivity.integer(
      "draws",
      {.fallback = options.draws, .min = 1, .max = 100'000, .doc = "draws of the three scales"});
  options.scan_points = sensitivity.integer(
      "scan_points", {.fallback = options.scan_points,
                      .min = 1,
                      .max = 1000,
                      .doc = "values of each scale by itself that are looked at above 1, and as "
                             "many below, for where the conclusion changes"});
  sensitivity.finish();
  return options;
}

}  // namespace inferscale
