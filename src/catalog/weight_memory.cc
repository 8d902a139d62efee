#include "catalog/weight_memory.h"

#include "base/check.h"

namespace inferscale {
namespace {

constexpr std::int64_t kMxfp4Tile = 256;

double attention_per_layer(const ModelSpec& model, std::int64_t tensor) {
  const double total = static_cast<double>(model.attention_parameters_per_layer());
  const double parts = static_cast<double>(tensor);
  if (model.mla) {
    const std::int64_t compressed =
        model.mla->kv_lora_rank + model.mla->qk_rope_head_dim + model.mla->q_lora_rank;
    const double whole = static_cast<double>(model.hidden_dim * compressed);
    return whole + (total - whole) / parts;
  }
  const double head = static_cast<double>(2 * model.hidden_dim * model.head_dim);
  const double key_value = head * static_cast<double>(model.kv_heads);
  return (total - key_value) / parts +
         head * static_cast<double>(kv_heads_per_accelerator(model, tensor));
}

// The part of all layers that the fullest stage has.
double stage_part(const ModelSpec& model, const DeploymentShape& shape) {
  return static_cast<double>(shape.stage_layers(model.layers)) / static_cast<double>(model.layers);
}

// Bytes of the routed experts of all layers on one accelerator.
double expert_bytes(const ModelSpec& model, const DeploymentShape& shape) {
  if (!model.moe) return 0;
  double parameters = static_cast<double>(model.moe_layers() * model.moe->experts) *
                      static_cast<double>(model.expert_parameters());
  if (shape.only_experts_quantised) {
    const std::int64_t width = model.moe->expert_ffn_dim;
    const std::int64_t padded = (width + kMxfp4Tile - 1) / kMxfp4Tile * kMxfp4Tile;
    parameters *= static_cast<double>(padded) / static_cast<double>(width);
  }
  const double bytes = parameters * shape.expert_bits() / 8.0;
  if (!shape.spreads_experts()) return bytes / static_cast<double>(shape.tensor);
  const std::int64_t whole = (model.moe->experts + shape.expert - 1) / shape.expert;
  return bytes * static_cast<double>(whole) / static_cast<double>(model.moe->experts);
}

}  // namespace

std::int64_t kv_heads_per_accelerator(const ModelSpec& model, std::int64_t tensor) {
  CHECK(tensor >= 1) << "tensor parallelism of " << tensor;
  return (model.kv_heads + tensor - 1) / tensor;
}

double weight_bytes_per_accelerator(const ModelSpec& model, const DeploymentShape& shape) {
  const double parts = static_cast<double>(shape.tensor);
  const double stage = stage_part(model, shape);
  const double layers = static_cast<double>(model.layers) * stage;
  const double moe_layers = static_cast<double>(model.moe_layers()) * stage;
  double linear = layers * attention_per_layer(model, shape.tensor) +
                  (layers - moe_layers) * static_cast<double>(model.dense_ffn_parameters()) / parts;
  double full_precision = (2 * layers + 1) * static_cast<double>(model.hidden_dim);
  const double embeddings = model.tied_embeddings || shape.pipeline > 1 ? 1 : 2;
  full_precision += embeddings * static_cast<double>(model.embedding_parameters()) / parts;
  if (model.moe) {
    const double experts = static_cast<double>(model.moe->experts);
    linear += moe_layers * static_cast<double>(model.shared_expert_parameters()) / parts;
    full_precision += moe_layers * experts * static_cast<double>(model.hidden_dim);
  }
  return linear * shape.linear_bits() / 8.0 +
         full_precision * DeploymentShape::kEmbeddingBits / 8.0 +
         expert_bytes(model, shape) * stage;
}

double kv_bytes_per_layer_per_accelerator(const ModelSpec& model, const DeploymentShape& shape) {
  double numbers =
      static_cast<double>(model.kv_elements_per_token()) / static_cast<double>(model.layers);
  if (!model.mla) {
    numbers = numbers / static_cast<double>(model.kv_heads) *
              static_cast<double>(kv_heads_per_accelerator(model, shape.tensor));
  }
  return numbers * shape.kv_bits / 8.0;
}

double kv_bytes_per_token_per_accelerator(const ModelSpec& model, const DeploymentShape& shape) {
  return static_cast<double>(shape.stage_layers(model.layers)) *
         kv_bytes_per_layer_per_accelerator(model, shape);
}

}  // namespace inferscale
