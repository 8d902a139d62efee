#include "catalog/readers/hf_quantisation.h"

namespace inferscale {
namespace {

// For each group of weights a 16-bit scale and a zero point as wide as a weight.
double grouped_bits(std::int64_t bits, std::int64_t group) {
  const double width = static_cast<double>(bits);
  if (bits >= 8 || group <= 0) return width;
  return width + (16.0 + width) / static_cast<double>(group);
}

// compressed-tensors: config_groups.<name>.weights.{num_bits, group_size}.
double compressed_tensors_bits(HfFields& quantisation) {
  std::optional<HfFields> groups = quantisation.object("config_groups");
  std::optional<HfFields> group = groups ? groups->first_object() : std::nullopt;
  std::optional<HfFields> weights = group ? group->object("weights") : std::nullopt;
  if (!weights) {
    quantisation.fail("config_groups", "a map of groups with weights.num_bits");
    return 16;
  }
  const std::int64_t bits = weights->integer("num_bits", 1);
  const std::int64_t group_size = weights->integer("group_size", -1, 0);
  quantisation.join(*weights);
  return grouped_bits(bits, group_size);
}

double modelopt_bits(HfFields& quantisation) {
  const std::string algorithm = quantisation.text("quant_algo", "");
  if (algorithm == "NVFP4") return 4.5;
  if (algorithm.starts_with("FP8")) return 8;
  quantisation.fail("quant_algo", "one of FP8, NVFP4");
  return 16;
}

double bits_of(HfFields& quantisation) {
  const std::string method = quantisation.text("quant_method", "");
  if (method == "fp8" || method == "fbgemm_fp8") return 8;
  if (method == "mxfp4") return 4.25;
  if (method == "awq" || method == "gptq") {
    const std::int64_t group = quantisation.integer("group_size", -1, 128);
    return grouped_bits(quantisation.integer("bits", 1), group);
  }
  if (method == "bitsandbytes") return quantisation.boolean("load_in_4bit", false) ? 4.5 : 8;
  if (method == "compressed-tensors") return compressed_tensors_bits(quantisation);
  if (method == "modelopt") return modelopt_bits(quantisation);
  quantisation.fail("quant_method",
                    "one of fp8, fbgemm_fp8, mxfp4, awq, gptq, bitsandbytes, compressed-tensors, "
                    "modelopt");
  return 16;
}

}  // namespace

double read_native_weight_bits(HfFields& config) {
  std::optional<HfFields> quantisation = config.object("quantization_config");
  if (!quantisation) return 16;
  const double bits = bits_of(*quantisation);
  config.join(*quantisation);
  return bits;
}

}  // namespace inferscale
