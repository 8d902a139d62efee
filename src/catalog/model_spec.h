// A model's shape: what memory and latency formulas need to know of it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace inferscale {

// Multi-head latent attention (DeepSeek): K and V of a token are kept as one compressed vector.
struct MlaSpec {
  std::int64_t kv_lora_rank = 0;
  std::int64_t q_lora_rank = 0;  // 0: queries are not compressed
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t v_head_dim = 0;
};

struct MoeSpec {
  std::int64_t experts = 0;            // routed experts in each MoE layer
  std::int64_t experts_per_token = 0;  // routed experts that a token visits
  std::int64_t expert_ffn_dim = 0;     // inner width of one routed expert
  std::int64_t shared_ffn_dim = 0;     // total inner width of the experts every token visits
  std::int64_t dense_layers = 0;       // layers that have a dense FFN instead
};

struct ModelSpec {
  std::string name;
  std::string source;  // where the figures come from
  std::int64_t layers = 0;
  std::int64_t hidden_dim = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn_dim = 0;       // inner width of a dense FFN
  std::int64_t ffn_matrices = 3;  // 3 for gated FFNs (SwiGLU), 2 for the plain kind
  std::int64_t vocab = 0;
  bool tied_embeddings = false;
  std::int64_t max_context = 0;     // tokens; max_position_embeddings, extended by rope scaling
  std::int64_t sliding_window = 0;  // tokens; 0: none
  std::int64_t sliding_window_layers = 0;  // layers that have the window
  std::optional<MlaSpec> mla;
  std::optional<MoeSpec> moe;
  // Bits of one weight as published (16 for bf16; 8, 4.25, ... for checkpoints that come
  // quantised).
  double native_weight_bits = 16;

  // All counts below follow from the shape; one token's view has `per_token` in its name.
  std::int64_t attention_parameters_per_layer() const;
  std::int64_t dense_ffn_parameters() const;      // of one dense layer
  std::int64_t expert_parameters() const;         // of one routed expert; 0 for dense models
  std::int64_t shared_expert_parameters() const;  // of one MoE layer
  std::int64_t moe_layers() const;
  std::int64_t embedding_parameters() const;  // one matrix, vocab x hidden
  std::int64_t total_parameters() const;
  // Numbers (not bytes) that the KV cache keeps of one token, over all layers: 2 x layers x KV
  // heads x head dim, or for MLA layers x (kv_lora_rank + rope dim).
  std::int64_t kv_elements_per_token() const;
};

}  // namespace inferscale
