#include "catalog/models.h"

#include <utility>

#include "catalog/name_lookup.h"

namespace inferscale {
namespace {

constexpr std::int64_t kKib = 1024;
constexpr double kMxfp4Bits = 4.25;  // 4 bits and, for every 32 weights, an 8-bit scale

struct Attention {
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
};

// Columns: first id (the source), name, layers, hidden, {heads, KV heads, head dim}, FFN,
// vocabulary, context; then what is special about the model.
ModelSpec dense(const char* id, std::string name, std::int64_t layers, std::int64_t hidden,
                Attention attention, std::int64_t ffn, std::int64_t vocab, std::int64_t context) {
  return {.name = std::move(name),
          .source = "https://huggingface.co/" + std::string(id) + " (config.json)",
          .layers = layers,
          .hidden_dim = hidden,
          .heads = attention.heads,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .ffn_dim = ffn,
          .vocab = vocab,
          .max_context = context};
}

ModelSpec tied(ModelSpec spec) {
  spec.tied_embeddings = true;
  return spec;
}

ModelSpec windowed(ModelSpec spec, std::int64_t window, std::int64_t layers) {
  spec.sliding_window = window;
  spec.sliding_window_layers = layers;
  return spec;
}

ModelSpec moe(ModelSpec spec, MoeSpec experts) {
  spec.moe = experts;
  return spec;
}

ModelSpec native(ModelSpec spec, double weight_bits) {
  spec.native_weight_bits = weight_bits;
  return spec;
}

ModelSpec mla(ModelSpec spec, std::int64_t q_lora_rank) {
  spec.mla = MlaSpec{.kv_lora_rank = 512,
                     .q_lora_rank = q_lora_rank,
                     .qk_rope_head_dim = 64,
                     .qk_nope_head_dim = 128,
                     .v_head_dim = 128};
  return spec;
}

using Models = std::vector<CatalogModel>;

// The model is also found by these Hugging Face ids.
void add(Models& models, ModelSpec spec, std::vector<std::string> ids) {
  models.push_back({.spec = std::move(spec), .aliases = std::move(ids)});
}

void add_llama_2(Models& models) {
  add(models,
      dense("meta-llama/Llama-2-7b-hf", "llama-2-7b", 32, 4096, {32, 32, 128}, 11008, 32000, 4096),
      {"meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-7b-chat-hf"});
  add(models,
      dense("meta-llama/Llama-2-13b-hf", "llama-2-13b", 40, 5120, {40, 40, 128}, 13824, 32000,
            4096),
      {"meta-llama/Llama-2-13b-hf", "meta-llama/Llama-2-13b-chat-hf"});
  add(models,
      dense("meta-llama/Llama-2-70b-hf", "llama-2-70b", 80, 8192, {64, 8, 128}, 28672, 32000, 4096),
      {"meta-llama/Llama-2-70b-hf", "meta-llama/Llama-2-70b-chat-hf"});
  add(models,
      dense("codellama/CodeLlama-34b-hf", "codellama-34b", 48, 8192, {64, 8, 128}, 22016, 32000,
            16 * kKib),
      {"codellama/CodeLlama-34b-hf", "codellama/CodeLlama-34b-Instruct-hf"});
}

void add_llama_3(Models& models) {
  add(models,
      dense("meta-llama/Meta-Llama-3-8B", "llama-3-8b", 32, 4096, {32, 8, 128}, 14336, 128256,
            8 * kKib),
      {"meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B-Instruct"});
  add(models,
      dense("meta-llama/Meta-Llama-3-70B", "llama-3-70b", 80, 8192, {64, 8, 128}, 28672, 128256,
            8 * kKib),
      {"meta-llama/Meta-Llama-3-70B", "meta-llama/Meta-Llama-3-70B-Instruct"});
  add(models,
      dense("meta-llama/Llama-3.1-8B", "llama-3.1-8b", 32, 4096, {32, 8, 128}, 14336, 128256,
            128 * kKib),
      {"meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct",
       "meta-llama/Meta-Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-8B-Instruct"});
  add(models,
      dense("meta-llama/Llama-3.1-70B", "llama-3.1-70b", 80, 8192, {64, 8, 128}, 28672, 128256,
            128 * kKib),
      {"meta-llama/Llama-3.1-70B", "meta-llama/Llama-3.1-70B-Instruct", "llama-3.3-70b",
       "meta-llama/Meta-Llama-3.1-70B-Instruct", "meta-llama/Llama-3.3-70B-Instruct"});
  add(models,
      dense("meta-llama/Llama-3.1-405B", "llama-3.1-405b", 126, 16384, {128, 8, 128}, 53248, 128256,
            128 * kKib),
      {"meta-llama/Llama-3.1-405B", "meta-llama/Llama-3.1-405B-Instruct",
       "meta-llama/Meta-Llama-3.1-405B-Instruct"});
  add(models,
      tied(dense("meta-llama/Llama-3.2-1B", "llama-3.2-1b", 16, 2048, {32, 8, 64}, 8192, 128256,
                 128 * kKib)),
      {"meta-llama/Llama-3.2-1B", "meta-llama/Llama-3.2-1B-Instruct"});
  add(models,
      tied(dense("meta-llama/Llama-3.2-3B", "llama-3.2-3b", 28, 3072, {24, 8, 128}, 8192, 128256,
                 128 * kKib)),
      {"meta-llama/Llama-3.2-3B", "meta-llama/Llama-3.2-3B-Instruct"});
  // The text model: the vision encoder is not counted. Attention in chunks of 8192 tokens, on three
  // layers of four, is counted as full attention.
  add(models,
      moe(dense("meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout", 48, 5120,
                {40, 8, 128}, 16384, 202048, 10240 * kKib),
          {.experts = 16, .experts_per_token = 1, .expert_ffn_dim = 8192, .shared_ffn_dim = 8192}),
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "meta-llama/Llama-4-Scout-17B-16E",
       "RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic"});
}

void add_qwen_2(Models& models) {
  add(models,
      tied(dense("Qwen/Qwen2.5-0.5B-Instruct", "qwen2.5-0.5b", 24, 896, {14, 2, 64}, 4864, 151936,
                 32 * kKib)),
      {"Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-0.5B-Instruct"});
  add(models,
      tied(dense("Qwen/Qwen2.5-1.5B-Instruct", "qwen2.5-1.5b", 28, 1536, {12, 2, 128}, 8960, 151936,
                 32 * kKib)),
      {"Qwen/Qwen2.5-1.5B", "Qwen/Qwen2.5-1.5B-Instruct"});
  add(models,
      tied(dense("Qwen/Qwen2.5-3B-Instruct", "qwen2.5-3b", 36, 2048, {16, 2, 128}, 11008, 151936,
                 32 * kKib)),
      {"Qwen/Qwen2.5-3B", "Qwen/Qwen2.5-3B-Instruct"});
  add(models,
      dense("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b", 28, 3584, {28, 4, 128}, 18944, 152064,
            32 * kKib),
      {"Qwen/Qwen2.5-7B", "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-Coder-7B-Instruct"});
  add(models,
      dense("Qwen/Qwen2.5-14B-Instruct", "qwen2.5-14b", 48, 5120, {40, 8, 128}, 13824, 152064,
            32 * kKib),
      {"Qwen/Qwen2.5-14B", "Qwen/Qwen2.5-14B-Instruct"});
  add(models,
      dense("Qwen/Qwen2.5-32B-Instruct", "qwen2.5-32b", 64, 5120, {40, 8, 128}, 27648, 152064,
            32 * kKib),
      {"Qwen/Qwen2.5-32B", "Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen2.5-Coder-32B-Instruct"});
  add(models,
      dense("Qwen/Qwen2.5-72B-Instruct", "qwen2.5-72b", 80, 8192, {64, 8, 128}, 29568, 152064,
            32 * kKib),
      {"Qwen/Qwen2.5-72B", "Qwen/Qwen2.5-72B-Instruct"});
}

void add_qwen_3(Models& models) {
  add(models,
      tied(dense("Qwen/Qwen3-0.6B", "qwen3-0.6b", 28, 1024, {16, 8, 128}, 3072, 151936, 40 * kKib)),
      {"Qwen/Qwen3-0.6B"});
  add(models, dense("Qwen/Qwen3-8B", "qwen3-8b", 36, 4096, {32, 8, 128}, 12288, 151936, 40 * kKib),
      {"Qwen/Qwen3-8B"});
  add(models,
      dense("Qwen/Qwen3-14B", "qwen3-14b", 40, 5120, {40, 8, 128}, 17408, 151936, 40 * kKib),
      {"Qwen/Qwen3-14B"});
  add(models,
      dense("Qwen/Qwen3-32B", "qwen3-32b", 64, 5120, {64, 8, 128}, 25600, 151936, 40 * kKib),
      {"Qwen/Qwen3-32B"});
  add(models,
      moe(dense("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b", 48, 2048, {32, 4, 128}, 6144, 151936,
                40 * kKib),
          {.experts = 128, .experts_per_token = 8, .expert_ffn_dim = 768}),
      {"Qwen/Qwen3-30B-A3B"});
  add(models,
      moe(dense("Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b", 94, 4096, {64, 4, 128}, 12288, 151936,
                40 * kKib),
          {.experts = 128, .experts_per_token = 8, .expert_ffn_dim = 1536}),
      {"Qwen/Qwen3-235B-A22B"});
}

void add_mistral(Models& models) {
  add(models,
      dense("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b", 32, 4096, {32, 8, 128}, 14336,
            32768, 32 * kKib),
      {"mistralai/Mistral-7B-v0.3", "mistralai/Mistral-7B-Instruct-v0.3"});
  add(models,
      dense("mistralai/Mistral-Nemo-Instruct-2407", "mistral-nemo-12b", 40, 5120, {32, 8, 128},
            14336, 131072, 128 * kKib),
      {"mistralai/Mistral-Nemo-Instruct-2407", "mistralai/Mistral-Nemo-Base-2407"});
  add(models,
      dense("mistralai/Mistral-Small-24B-Instruct-2501", "mistral-small-24b", 40, 5120,
            {32, 8, 128}, 32768, 131072, 32 * kKib),
      {"mistralai/Mistral-Small-24B-Instruct-2501", "mistralai/Mistral-Small-24B-Base-2501"});
  add(models,
      moe(dense("mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b", 32, 4096, {32, 8, 128}, 14336, 32000,
                32 * kKib),
          {.experts = 8, .experts_per_token = 2, .expert_ffn_dim = 14336}),
      {"mistralai/Mixtral-8x7B-v0.1", "mistralai/Mixtral-8x7B-Instruct-v0.1"});
  add(models,
      moe(dense("mistralai/Mixtral-8x22B-v0.1", "mixtral-8x22b", 56, 6144, {48, 8, 128}, 16384,
                32000, 64 * kKib),
          {.experts = 8, .experts_per_token = 2, .expert_ffn_dim = 16384}),
      {"mistralai/Mixtral-8x22B-v0.1"});
}

void add_others(Models& models) {
  add(models, dense("01-ai/Yi-34B", "yi-34b", 60, 7168, {56, 8, 128}, 20480, 64000, 4096),
      {"01-ai/Yi-34B"});
  add(models, dense("microsoft/phi-4", "phi-4", 40, 5120, {40, 10, 128}, 17920, 100352, 16 * kKib),
      {"microsoft/phi-4"});
  add(models,
      windowed(tied(dense("google/gemma-2-9b", "gemma-2-9b", 42, 3584, {16, 8, 256}, 14336, 256000,
                          8 * kKib)),
               4096, 21),
      {"google/gemma-2-9b", "google/gemma-2-9b-it"});
  add(models,
      windowed(tied(dense("google/gemma-2-27b", "gemma-2-27b", 46, 4608, {32, 16, 128}, 36864,
                          256000, 8 * kKib)),
               4096, 23),
      {"google/gemma-2-27b", "google/gemma-2-27b-it"});
}

void add_deepseek_and_gpt_oss(Models& models) {
  add(models,
      mla(moe(dense("deepseek-ai/DeepSeek-V2-Lite", "deepseek-v2-lite", 27, 2048, {16, 16, 192},
                    10944, 102400, 160 * kKib),
              {.experts = 64,
               .experts_per_token = 6,
               .expert_ffn_dim = 1408,
               .shared_ffn_dim = 2816,
               .dense_layers = 1}),
          0),
      {"deepseek-ai/DeepSeek-V2-Lite", "deepseek-ai/DeepSeek-V2-Lite-Chat"});
  // Without the multi-token prediction module, which serving loads only for speculative decoding.
  add(models,
      native(mla(moe(dense("deepseek-ai/DeepSeek-V3", "deepseek-v3", 61, 7168, {128, 128, 192},
                           18432, 129280, 160 * kKib),
                     {.experts = 256,
                      .experts_per_token = 8,
                      .expert_ffn_dim = 2048,
                      .shared_ffn_dim = 2048,
                      .dense_layers = 3}),
                 1536),
             8),
      {"deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-R1",
       "deepseek-r1"});
  add(models,
      native(windowed(moe(dense("openai/gpt-oss-20b", "gpt-oss-20b", 24, 2880, {64, 8, 64}, 2880,
                                201088, 128 * kKib),
                          {.experts = 32, .experts_per_token = 4, .expert_ffn_dim = 2880}),
                      128, 12),
             kMxfp4Bits),
      {"openai/gpt-oss-20b"});
  add(models,
      native(windowed(moe(dense("openai/gpt-oss-120b", "gpt-oss-120b", 36, 2880, {64, 8, 64}, 2880,
                                201088, 128 * kKib),
                          {.experts = 128, .experts_per_token = 4, .expert_ffn_dim = 2880}),
                      128, 18),
             kMxfp4Bits),
      {"openai/gpt-oss-120b"});
}

Models make_models() {
  Models models;
  add_llama_2(models);
  add_llama_3(models);
  add_qwen_2(models);
  add_qwen_3(models);
  add_mistral(models);
  add_others(models);
  add_deepseek_and_gpt_oss(models);
  return models;
}

}  // namespace

const std::vector<CatalogModel>& catalog_models() {
  static const std::vector<CatalogModel> models = make_models();
  return models;
}

Result<ModelSpec> find_model(std::string_view name) {
  return find_by_name<ModelSpec>(catalog_models(), name, "model",
                                 "the path of a Hugging Face config.json works too");
}

}  // namespace inferscale
