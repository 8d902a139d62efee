#include "study/validation/case_names.h"

#include <array>

#include "catalog/name_lookup.h"

namespace inferscale {
namespace {

struct Alias {
  std::string_view source;  // in lower case
  std::string_view ours;
};

// Quantised and re-published checkpoints have the shape of the model that they were made from; the
// format of their weights is the case's `precision`. Case is ignored.
constexpr std::array kModels = {
    Alias{"/workspace/deepseek-r1-0528", "deepseek-v3"},
    Alias{"amd/llama-3.1-405b-instruct-fp8-kv", "llama-3.1-405b"},
    Alias{"huggyllama/llama-7b (dummy weights)", "llama-2-7b"},  // the same shape
    Alias{"meta-llama/llama-2-70b", "llama-2-70b"},
    Alias{"meta-llama/llama-3.1-405b-fp8", "llama-3.1-405b"},
    Alias{"nvidia/deepseek-v3.1-nvfp4", "deepseek-v3"},
    Alias{"nvidia/llama-3.1-8b-instruct-fp8", "llama-3.1-8b"},
    Alias{"nvidia/llama-3.3-70b-instruct-fp8", "llama-3.1-70b"},
    Alias{"nvidia/qwen3-32b-nvfp4", "qwen3-32b"},
    Alias{"qwen/qwen3-14b-awq", "qwen3-14b"},
    Alias{"qwen/qwen3-14b-fp8", "qwen3-14b"},
    Alias{"qwen/qwen3-235b-a22b-fp8", "qwen3-235b-a22b"},
    Alias{"qwen/qwen3-235b-a22b-instruct-2507", "qwen3-235b-a22b"},
    Alias{"qwen/qwen3-235b-a22b-instruct-2507-fp8", "qwen3-235b-a22b"},
    Alias{"qwen/qwen3-8b-fp8", "qwen3-8b"},
    Alias{"redhatai/llama-4-scout-17b-16e-instruct-fp8-dynamic", "llama-4-scout"},
};

constexpr std::array kAccelerators = {
    Alias{"a100-sxm-40gb", "a100-40gb"}, Alias{"a100-sxm-80gb", "a100-80gb"},
    Alias{"b200-sxm-180gb", "b200"},     Alias{"h200-sxm-141gb", "h200"},
    Alias{"rtx-4090-24gb", "rtx-4090"},  Alias{"rtx-pro-6000-blackwell-96gb", "rtx-pro-6000"},
};

// deployment.precision.weights. A source that says nothing means the format of the checkpoint.
constexpr std::array kWeights = {
    Alias{"", "native"},       Alias{"auto", "native"},    Alias{"bf16", "bf16"},
    Alias{"fp16", "fp16"},     Alias{"fp16/bf16", "bf16"}, Alias{"fp8", "fp8"},
    Alias{"int8", "int8"},     Alias{"w8a8", "int8"},      Alias{"int4", "int4"},
    Alias{"awq-int4", "int4"}, Alias{"mxfp4", "mxfp4"},    Alias{"native", "native"},
};

template <std::size_t N>
std::optional<std::string_view> look_up(const std::array<Alias, N>& table, std::string_view name) {
  const std::string wanted = lower_case(name);
  for (const Alias& alias : table) {
    if (alias.source == wanted) return alias.ours;
  }
  return std::nullopt;
}

}  // namespace

std::string catalogue_model_name(const std::string& source_name) {
  const auto found = look_up(kModels, source_name);
  return found ? std::string(*found) : source_name;
}

std::string catalogue_accelerator_name(const std::string& source_name) {
  const auto found = look_up(kAccelerators, source_name);
  return found ? std::string(*found) : source_name;
}

std::optional<std::string_view> scheduler_of_engine(std::string_view engine) {
  const std::string name = lower_case(engine);
  for (const std::string_view modelled : {"vllm", "sglang"}) {
    if (name == modelled || name.starts_with(std::string(modelled) + " ")) return modelled;
  }
  return std::nullopt;
}

std::optional<std::string_view> weights_of_precision(std::string_view precision) {
  return look_up(kWeights, precision);
}

}  // namespace inferscale
