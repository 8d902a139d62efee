#include "study/ab_options.h"

namespace inferscale {

AbOptions read_ab_options(ConfigReader& study) {
  ConfigReader ab = study.map("ab", "the paired comparison of two configurations");
  AbOptions options;
  options.resamples = ab.integer("resamples", {.fallback = options.resamples,
                                               .min = 100,
                                               .max = 10'000'000,
                                               .doc = "resamples of the bootstrap"});
  options.max_repeats = ab.optional_integer(
      "max_repeats", {.min = 2,
                      .max = 1'000'000,
                      .unit = "runs",
                      .doc = "repetitions are added up to this number until the comparison is "
                             "decided; null: their number is fixed"});
  ab.finish();
  return options;
}

}  // namespace inferscale
