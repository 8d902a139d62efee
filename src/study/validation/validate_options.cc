#include "study/validation/validate_options.h"

namespace inferscale {

ValidateOptions read_validate_options(ConfigReader& study) {
  ConfigReader validate = study.map("validate", "the comparison with measured cases");
  ValidateOptions options;
  const auto ratio = [&](std::string_view key, double fallback, double max, std::string_view doc) {
    return validate.number(
        key, {.fallback = fallback, .min = 0, .max = max, .unit = "ratio", .doc = doc});
  };
  options.prompt_cv =
      ratio("prompt_cv", options.prompt_cv, 10,
            "deviation over mean of prompt lengths of which a case tells only the mean");
  options.output_cv = ratio("output_cv", options.output_cv, 10,
                            "deviation over mean of answer lengths of which a case tells only the "
                            "mean");
  options.knee_from = ratio("knee_from", options.knee_from, 10,
                            "load factors (offered over predicted capacity) below it are light");
  options.overload_from =
      ratio("overload_from", options.overload_from, 10, "load factors from it on are overload");
  options.served_below =
      ratio("served_below", options.served_below, 1,
            "a measured throughput below this part of what an engine that keeps up would show "
            "is overload, whatever the load factor");
  if (!validate.is_describing() && options.overload_from < options.knee_from) {
    validate.fail("overload_from", "expected at least knee_from");
  }
  validate.finish();
  return options;
}

}  // namespace inferscale
