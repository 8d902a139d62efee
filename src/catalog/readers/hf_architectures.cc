#include "catalog/readers/hf_architectures.h"

namespace inferscale {
namespace {

constexpr HfArchitecture kArchitectures[] = {
    {.name = "DeepseekV2ForCausalLM", .experts = HfExperts::kDeepseek, .latent_attention = true},
    {.name = "DeepseekV3ForCausalLM", .experts = HfExperts::kDeepseek, .latent_attention = true},
    {.name = "Gemma2ForCausalLM",
     .window = HfWindow::kAlternating,
     .tied_by_default = true,
     .default_head_dim = 256},
    {.name = "Gemma3ForCausalLM",
     .window = HfWindow::kFiveOfSix,
     .tied_by_default = true,
     .default_head_dim = 256,
     .context_is_final = true},
    {.name = "Gemma3ForConditionalGeneration",
     .window = HfWindow::kFiveOfSix,
     .tied_by_default = true,
     .default_head_dim = 256,
     .context_is_final = true},
    {.name = "GemmaForCausalLM", .tied_by_default = true, .default_head_dim = 256},
    {.name = "GptOssForCausalLM",
     .experts = HfExperts::kMixtral,
     .window = HfWindow::kAlternating,
     .default_head_dim = 64},
    {.name = "Llama4ForCausalLM", .experts = HfExperts::kLlama4},
    {.name = "Llama4ForConditionalGeneration", .experts = HfExperts::kLlama4},
    {.name = "LlamaForCausalLM"},
    {.name = "Mistral3ForConditionalGeneration", .window = HfWindow::kAll},
    {.name = "MistralForCausalLM", .window = HfWindow::kAll},
    {.name = "MixtralForCausalLM", .experts = HfExperts::kMixtral, .window = HfWindow::kAll},
    {.name = "Phi3ForCausalLM", .window = HfWindow::kAll},
    {.name = "Qwen2ForCausalLM", .window = HfWindow::kAsQwen},
    {.name = "Qwen2MoeForCausalLM", .experts = HfExperts::kQwen, .window = HfWindow::kAsQwen},
    {.name = "Qwen3ForCausalLM", .window = HfWindow::kAsQwen, .default_head_dim = 128},
    {.name = "Qwen3MoeForCausalLM", .experts = HfExperts::kQwen, .window = HfWindow::kAsQwen},
};

}  // namespace

const HfArchitecture* find_hf_architecture(std::string_view name) {
  for (const HfArchitecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
  }
  return nullptr;
}

std::string known_hf_architectures() {
  std::string listed;
  for (const HfArchitecture& architecture : kArchitectures) {
    if (!listed.empty()) listed += ", ";
    listed += architecture.name;
  }
  return listed;
}

}  // namespace inferscale
