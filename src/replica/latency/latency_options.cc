#include "replica/latency/latency_options.h"

namespace inferscale {
namespace {

constexpr double kLongestStepUs = 1e9;

double coefficient(ConfigReader& reader, std::string_view key, std::string_view unit,
                   std::string_view doc) {
  return reader.number(key,
                       {.fallback = 0, .min = 0, .max = kLongestStepUs, .unit = unit, .doc = doc});
}

double scale(ConfigReader& reader, std::string_view key, std::string_view doc) {
  return reader.number(
      key, {.fallback = 1, .min = 0, .max = 1000, .above_min = true, .unit = "factor", .doc = doc});
}

}  // namespace

LatencyOptions read_latency_options(ConfigReader& deployment) {
  ConfigReader reader = deployment.map("latency", "how long a step of the engine takes");
  LatencyOptions options;
  const std::string model =
      reader.choice("model", {"roofline", "linear"}, "roofline",
                    "roofline: from the model's arithmetic and traffic and the hardware's peaks; "
                    "linear: from coefficients that you measured (docs/latency.md)");
  options.kind = model == "linear" ? LatencyKind::kLinear : LatencyKind::kRoofline;
  options.scales.prefill = scale(reader, "prefill_scale", "multiplies steps that prefill");
  options.scales.decode = scale(reader, "decode_scale", "multiplies steps that only decode");
  reader.when("model", model, "linear", [&] {
    options.linear.step_us = coefficient(reader, "step_us", "us", "cost of any step");
    options.linear.prefill_us_per_token =
        coefficient(reader, "prefill_us_per_token", "us", "added for each prompt token");
    options.linear.decode_us_per_sequence =
        coefficient(reader, "decode_us_per_sequence", "us", "added for each decoding sequence");
    options.linear.decode_ns_per_context_token =
        coefficient(reader, "decode_ns_per_context_token", "ns",
                    "added for each token that decoding sequences attend to");
    if (options.linear.step_us == 0 && options.linear.prefill_us_per_token == 0 &&
        options.linear.decode_us_per_sequence == 0 && !reader.is_describing()) {
      reader.fail("step_us",
                  "expected a step, prefill or decode cost above 0: else no time passes");
    }
  });
  reader.finish();
  return options;
}

std::unique_ptr<LatencyModel> make_latency(const LatencyOptions& options, const ModelSpec& model,
                                           const HardwareSpec& hardware,
                                           const DeploymentShape& shape) {
  if (options.kind == LatencyKind::kLinear) return make_linear(options.linear, options.scales);
  return make_roofline(model, hardware, shape, options.scales);
}

}  // namespace inferscale
