#include "catalog/deployment_options.h"

#include <string>
#include <string_view>

namespace inferscale {
namespace {

// 4 bits and, for every 128 weights, a 16-bit scale and a 4-bit zero point (AWQ, GPTQ).
constexpr double kInt4Bits = 4.0 + 20.0 / 128.0;
// 4 bits and, for every 32 weights, an 8-bit scale (OCP Microscaling Formats).
constexpr double kMxfp4Bits = 4.0 + 8.0 / 32.0;

// Bits of a weight for a format's name.
double bits_of(std::string_view format, const ModelSpec& model) {
  if (format == "native") return model.native_weight_bits;
  if (format == "fp8" || format == "int8") return 8;
  if (format == "int4") return kInt4Bits;
  if (format == "mxfp4") return kMxfp4Bits;
  return 16;
}

std::int64_t read_degree(ConfigReader& parallel, std::string_view key, std::int64_t max,
                         std::string_view unit, std::string_view doc) {
  return parallel.integer(key, {.fallback = 1, .min = 1, .max = max, .unit = unit, .doc = doc});
}

// Routed experts are cut with the layers, or lie whole on all accelerators of a stage: engines know
// nothing between.
void check_experts(ConfigReader& parallel, const ModelSpec& model, const DeploymentShape& shape) {
  if (shape.expert == 1) return;
  if (!model.moe) {
    parallel.fail("expert", "expected 1: " + model.name + " has no routed experts");
    return;
  }
  const std::int64_t spread = shape.tensor * shape.data;
  if (shape.expert != spread) {
    parallel.fail("expert",
                  "expected 1 (experts are cut by tensor parallelism) or tensor x data (" +
                      std::to_string(spread) + ", over which whole experts are spread)");
  } else if (shape.expert > model.moe->experts) {
    parallel.fail("expert", "expected at most the " + std::to_string(model.moe->experts) +
                                " routed experts of " + model.name);
  }
}

void read_parallel(ConfigReader& deployment, const ModelSpec& model, DeploymentShape& shape) {
  ConfigReader parallel = deployment.map(
      "parallel",
      "how one replica is laid over accelerators; it occupies tensor x pipeline x data of them");
  shape.tensor = read_degree(parallel, "tensor", 64, "accelerators",
                             "accelerators that share each layer; must divide the attention heads");
  shape.pipeline =
      read_degree(parallel, "pipeline", 64, "stages", "stages, each with its share of the layers");
  shape.expert = read_degree(parallel, "expert", 65536, "accelerators",
                             "accelerators over which whole routed experts are spread: tensor x "
                             "data, or 1 (experts are cut by tensor parallelism)");
  shape.data = read_degree(parallel, "data", 1024, "ranks",
                           "ranks, each with a batch and a KV cache of its own");
  if (!parallel.is_describing()) {
    if (model.heads % shape.tensor != 0) {
      parallel.fail("tensor", "expected a divisor of the " + std::to_string(model.heads) +
                                  " attention heads of " + model.name);
    }
    if (shape.pipeline > model.layers) {
      parallel.fail("pipeline", "expected at most the " + std::to_string(model.layers) +
                                    " layers of " + model.name);
    }
    check_experts(parallel, model, shape);
  }
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

DeploymentShape read_deployment_shape(ConfigReader& deployment, const ModelSpec& model,
                                      const HardwareSpec& hardware) {
  DeploymentShape shape;
  read_parallel(deployment, model, shape);
  read_precision(deployment, model, hardware, shape);
  return shape;
}

}  // namespace inferscale
