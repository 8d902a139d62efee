// How a model is laid over accelerators: parallelism and number formats.

#pragma once

#include <cstdint>

#include "catalog/model_spec.h"

namespace inferscale {

struct DeploymentShape {
  std::int64_t tensor = 1;    // accelerators that share each layer; one replica occupies this many
  double weight_bits = 16;    // bits of one weight in memory
  double kv_bits = 16;        // bits of one number in the KV cache
  bool compute_8bit = false;  // matrix products run at the 8-bit rate
  // Routed experts have `weight_bits`, all other weights 16: how mxfp4 checkpoints come.
  bool only_experts_quantised = false;

  // Bits of one weight of attention, dense FFN or shared expert.
  double linear_bits() const { return only_experts_quantised ? 16.0 : weight_bits; }
  double expert_bits() const { return weight_bits; }
  // Embedding, output head, router and norms stay at 16 bits in quantised checkpoints.
  static constexpr double kEmbeddingBits = 16;

  // Bytes of KV cache of one token over all layers, kept once. What each accelerator keeps, repeats
  // included, is in weight_memory.h.
  double kv_bytes_per_token(const ModelSpec& model) const {
    return static_cast<double>(model.kv_elements_per_token()) * kv_bits / 8.0;
  }
};

}  // namespace inferscale
