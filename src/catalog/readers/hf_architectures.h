// The model architectures whose config.json can be read, and how each spells what we need.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inferscale {

// How the experts are described.
enum class HfExperts : std::uint8_t {
  kNone,
  kMixtral,   // num_local_experts, each as wide as intermediate_size
  kQwen,      // num_experts, moe_intermediate_size, shared_expert_intermediate_size
  kDeepseek,  // n_routed_experts, moe_intermediate_size, n_shared_experts, first_k_dense_replace
  kLlama4,    // num_local_experts with one shared, intermediate_size; every n-th layer
};

// Which layers have a sliding window, where `layer_types` does not list them.
enum class HfWindow : std::uint8_t {
  kNone,
  kAll,          // all layers, when sliding_window is set
  kAlternating,  // every second layer
  kFiveOfSix,    // all but every sixth
  kAsQwen,       // the layers from max_window_layers on, when use_sliding_window is true
};

struct HfArchitecture {
  std::string_view name;
  HfExperts experts = HfExperts::kNone;
  HfWindow window = HfWindow::kNone;
  bool latent_attention = false;      // DeepSeek's MLA
  bool tied_by_default = false;       // when tie_word_embeddings is not written
  std::int64_t default_head_dim = 0;  // when head_dim is not written; 0: hidden size / heads
  bool context_is_final = false;      // max_position_embeddings includes the scaling already
};

// Null when the name is not known.
const HfArchitecture* find_hf_architecture(std::string_view name);

// All names, comma-separated, for an error message.
std::string known_hf_architectures();

}  // namespace inferscale
