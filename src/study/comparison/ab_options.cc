#include "study/comparison/ab_options.h"

namespace inferscale {

AbOptions read_ab_options(ConfigReader& study) {
  ConfigReader ab = study.map("ab", "the paired comparison of two configurations");
  AbOptions options;
  options.resamples = ab.integer("resamples", {.fallback = options.resamples,
                                               .min = 100,
                                               .max = 1'000'000,
                                               .doc = "resamples of the bootstrap"});
  options.max_repeats = ab.optional_integer(
      "max_repeats",
      {.min = 2,
       .max = 100'000,
       .unit = "runs",
       .doc = "repetitions are doubled up to this number until goodput, TTFT p95 and "
              "E2E p95 are decided; null: their number is `repeats`"});
  options.half_width = ab.number(
      "half_width", {.fallback = options.half_width,
                     .min = 0,
                     .max = 1,
                     .doc = "with max_repeats, a metric is also decided when half its interval is "
                            "at most this part of the baseline's mean"});
  options.common_random_numbers =
      ab.boolean("common_random_numbers", options.common_random_numbers,
                 "true: both see the same requests on each repetition; false: the treatment's "
                 "seeds are 1,000,000 higher");
  ab.finish();
  return options;
}

}  // namespace inferscale
