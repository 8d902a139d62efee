#include "core/measurement.h"

#include "base/number_text.h"

namespace inferscale {

MeasurementOptions read_measurement(ConfigReader& root) {
  constexpr double kLongestSeconds = 1e9;
  ConfigReader reader = root.map("measurement", "what of the run its figures are taken from");
  MeasurementOptions options;
  const ConfigNode* value =
      reader.raw("warmup_s", "number | auto",
                 "requests that arrive before this time are left out of latency and goodput; auto: "
                 "the end of the warm-up is found from the TTFT series (MSER-5)",
                 "0");
  if (value == nullptr) {
    // Notes the default among the effective keys; the description stands already.
    if (!reader.is_describing()) reader.number("warmup_s", {.fallback = 0});
  } else {
    const bool scalar = value->kind() == ConfigNode::Kind::kScalar && !value->quoted();
    const auto seconds = scalar ? parse_finite(value->text()) : std::nullopt;
    options.warmup_auto = scalar && value->text() == "auto";
    if (seconds && *seconds >= 0 && *seconds <= kLongestSeconds) {
      options.warmup = Duration::from_seconds(*seconds);
    } else if (!options.warmup_auto) {
      reader.fail("warmup_s", "expected seconds, 0 to 1e9, or auto");
    }
  }
  reader.finish();
  return options;
}

}  // namespace inferscale
