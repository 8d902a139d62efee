// How a model is laid over accelerators: parallelism and number formats.
//
// One replica occupies tensor x pipeline x data accelerators:
//
//   tensor    that many share each matrix and each attention layer's heads
//   pipeline  stages, each with its share of the layers; tokens pass through them in turn
//   data      ranks, each with the attention weights, a batch and a KV cache of its own
//   expert    1: routed experts are cut by `tensor` like everything else, and data ranks are
//             independent copies; tensor x data: each accelerator of a stage keeps whole experts,
//             and the tokens of all ranks travel to them
//
// Accelerators are numbered as engines do it, tensor innermost, then pipeline, then data, and fill
// one node after the other.

#pragma once

#include <cstdint>

#include "catalog/model_spec.h"

namespace inferscale {

struct DeploymentShape {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t expert = 1;  // 1, or tensor x data
  std::int64_t data = 1;
  double weight_bits = 16;    // bits of one weight in memory
  double kv_bits = 16;        // bits of one number in the KV cache
  bool compute_8bit = false;  // matrix products run at the 8-bit rate
  // Routed experts have `weight_bits`, all other weights 16: how mxfp4 checkpoints come.
  bool only_experts_quantised = false;

  std::int64_t accelerators() const { return tensor * pipeline * data; }
  bool spreads_experts() const { return expert > 1; }
  // Layers of the fullest pipeline stage, of `layers` in all.
  std::int64_t stage_layers(std::int64_t layers) const {
    return (layers + pipeline - 1) / pipeline;
  }

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
