#include "catalog/deployment_options.h"

#include <string>
#include <string_view>

#include "catalog/accelerators.h"

namespace inferscale {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
// 4 bits and, for every 128 weights, a 16-bit scale and a 4-bit zero point (AWQ, GPTQ).
constexpr double kInt4Bits = 4.0 + 20.0 / 128.0;
// 4 bits and, for every 32 weights, an 8-bit scale (OCP Microscaling Formats).
constexpr double kMxfp4Bits = 4.0 + 8.0 / 32.0;

void read_peaks(ConfigReader& hardware, HardwareSpec& spec) {
  spec.memory_bytes =
      kGib *
      hardware.number("memory_gib", {.min = 0,
                                     .max = 4096,
                                     .above_min = true,
                                     .unit = "GiB",
                                     .doc = "memory of one accelerator, as its driver reports it"});
  spec.memory_bandwidth =
      1e9 * hardware.number(
                "memory_bandwidth_gb_s",
                {.min = 1, .max = 1e6, .unit = "GB/s", .doc = "peak bandwidth of that memory"});
  spec.flops_16bit = 1e12 * hardware.number("flops_16bit_tflops",
                                            {.min = 0.01,
                                             .max = 1e6,
                                             .unit = "TFLOP/s",
                                             .doc = "peak of dense bf16 or fp16 matrix products"});
  spec.flops_8bit =
      1e12 * hardware.number("flops_8bit_tflops",
                             {.fallback = 0.0,
                              .min = 0,
                              .max = 1e6,
                              .unit = "TFLOP/s",
                              .doc = "peak of dense fp8 matrix products; 0: it has none"});
  spec.link_bandwidth =
      1e9 * hardware.number("link_bandwidth_gb_s",
                            {.fallback = 19.0,
                             .min = 0.01,
                             .max = 1e5,
                             .unit = "GB/s",
                             .doc = "what one accelerator sends to the others of its node; the "
                                    "default is PCIe 4.0 as measured"});
  spec.link_latency_s =
      1e-6 * hardware.number("link_latency_us", {.fallback = 5.0,
                                                 .min = 0,
                                                 .max = 1e6,
                                                 .unit = "us",
                                                 .doc = "time of one message between two of them"});
}

void read_efficiencies(ConfigReader& hardware, HardwareSpec& spec) {
  spec.compute_efficiency = hardware.number(
      "compute_efficiency", {.fallback = 0.5,
                             .min = 0.001,
                             .max = 1,
                             .doc = "part of the peak FLOP/s that large matrix products reach"});
  spec.memory_efficiency =
      hardware.number("memory_efficiency",
                      {.fallback = 0.65,
                       .min = 0.001,
                       .max = 1,
                       .doc = "part of the peak bandwidth that reading weights and KV reaches"});
  spec.step_overhead_s =
      1e-3 * hardware.number("step_overhead_ms", {.fallback = 1.0,
                                                  .min = 0,
                                                  .max = 1e3,
                                                  .unit = "ms",
                                                  .doc = "what a step costs beside its kernels"});
  spec.sequence_overhead_s =
      1e-6 * hardware.number("sequence_overhead_us",
                             {.fallback = 5.0,
                              .min = 0,
                              .max = 1e6,
                              .unit = "us",
                              .doc = "what each sequence adds to a step beside its kernels"});
}

HardwareSpec read_inline_hardware(ConfigReader& deployment) {
  ConfigReader hardware = deployment.map("hardware", "an accelerator that you describe");
  HardwareSpec spec;
  spec.name = hardware.text("name", "custom", "how reports call it");
  spec.source = "the configuration";
  read_peaks(hardware, spec);
  read_efficiencies(hardware, spec);
  hardware.finish();
  return spec;
}

// Bits of a weight for a format's name.
double bits_of(std::string_view format, const ModelSpec& model) {
  if (format == "native") return model.native_weight_bits;
  if (format == "fp8" || format == "int8") return 8;
  if (format == "int4") return kInt4Bits;
  if (format == "mxfp4") return kMxfp4Bits;
  return 16;
}

void read_parallel(ConfigReader& deployment, const ModelSpec& model, DeploymentShape& shape) {
  ConfigReader parallel = deployment.map("parallel", "how one replica is laid over accelerators");
  shape.tensor = parallel.integer(
      "tensor", {.fallback = 1,
                 .min = 1,
                 .max = 64,
                 .unit = "accelerators",
                 .doc = "accelerators that share each layer; must divide the attention heads"});
  if (!parallel.is_describing() && shape.tensor >= 1 && model.heads % shape.tensor != 0) {
    parallel.fail("tensor", "expected a divisor of the " + std::to_string(model.heads) +
                                " attention heads of " + model.name);
  }
  const std::string_view why = "other values come with a later version";
  parallel.only("pipeline", "1", why);
  parallel.only("expert", "1", why);
  parallel.only("data", "1", why);
  parallel.finish();
}

void read_precision(ConfigReader& deployment, const ModelSpec& model, const HardwareSpec& hardware,
                    DeploymentShape& shape) {
  ConfigReader precision = deployment.map("precision", "number formats");
  const std::string weights =
      precision.choice("weights", {"bf16", "fp16", "fp8", "int8", "int4", "mxfp4", "native"},
                       "bf16", "format of the weights; native: as the model was published");
  const std::string kv = precision.choice("kv", {"bf16", "fp16", "fp8"}, "bf16",
                                          "format of the numbers in the KV cache");
  precision.finish();
  shape.weight_bits = bits_of(weights, model);
  shape.kv_bits = kv == "fp8" ? 8 : 16;
  shape.only_experts_quantised = model.moe.has_value() && shape.weight_bits == kMxfp4Bits;
  // int4 and mxfp4 weights are widened to 16 bits on the way into the matrix units.
  const bool integer = weights == "int8";
  shape.compute_8bit =
      shape.weight_bits == 8 && hardware.flops_8bit > 0 && (integer || !hardware.int8_only);
}

}  // namespace

HardwareSpec read_hardware(ConfigReader& deployment) {
  const ConfigNode* written =
      deployment.raw("hardware", "text or map",
                     "the accelerator: a name of the catalogue (`inferscale hardware` lists them) "
                     "or a map that describes one",
                     "required");
  HardwareSpec inline_spec;
  if (deployment.is_describing()) {
    deployment.when("hardware", "", "{...}",
                    [&] { inline_spec = read_inline_hardware(deployment); });
    return inline_spec;
  }
  if (written == nullptr) {
    deployment.fail("hardware", "missing: expected a name of the catalogue or a map");
    return {};
  }
  if (written->is_map()) return read_inline_hardware(deployment);
  if (written->kind() != ConfigNode::Kind::kScalar) {
    deployment.fail("hardware", "expected a name of the catalogue or a map");
    return {};
  }
  const Result<HardwareSpec> found = find_accelerator(written->text());
  if (!found) {
    deployment.fail("hardware", found.error().message);
    return {};
  }
  return *found;
}

DeploymentShape read_deployment_shape(ConfigReader& deployment, const ModelSpec& model,
                                      const HardwareSpec& hardware) {
  DeploymentShape shape;
  read_parallel(deployment, model, shape);
  read_precision(deployment, model, hardware, shape);
  return shape;
}

}  // namespace inferscale
