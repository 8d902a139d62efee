// config.json files read to the catalogue's shapes, and one clear error for each mistake in them.

#include "catalog/readers/hf_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catalog/models.h"

namespace inferscale {
namespace {

// A model's fields as its publisher's file has them; the rest of those files does not matter here.
const std::string kLlama = R"("architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "vocab_size": 128256)";
const std::string kLlamaRope = R"(, "max_position_embeddings": 131072, "rope_scaling":
  {"factor": 8.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"})";

std::string braced(const std::string& fields) {
  return "{\n" + fields + "\n}";
}

ModelSpec parsed(const std::string& fields) {
  const auto model = parse_hf_config(braced(fields), "config.json", "test");
  EXPECT_TRUE(model) << (model ? "" : model.error().to_string());
  return model ? *model : ModelSpec{};
}

std::string error_of(const std::string& text) {
  const auto model = parse_hf_config(text, "config.json", "test");
  EXPECT_FALSE(model);
  return model ? "" : model.error().to_string();
}

void expect_same_shape(const ModelSpec& read, const char* name) {
  const ModelSpec known = *find_model(name);
  EXPECT_EQ(read.total_parameters(), known.total_parameters()) << name;
  EXPECT_EQ(read.kv_elements_per_token(), known.kv_elements_per_token()) << name;
  EXPECT_EQ(read.max_context, known.max_context) << name;
  EXPECT_EQ(read.head_dim, known.head_dim) << name;
  EXPECT_EQ(read.kv_heads, known.kv_heads) << name;
  EXPECT_EQ(read.tied_embeddings, known.tied_embeddings) << name;
  EXPECT_EQ(read.sliding_window, known.sliding_window) << name;
  EXPECT_EQ(read.sliding_window_layers, known.sliding_window_layers) << name;
  EXPECT_EQ(read.native_weight_bits, known.native_weight_bits) << name;
  ASSERT_EQ(read.moe.has_value(), known.moe.has_value()) << name;
  if (!read.moe) return;
  EXPECT_EQ(read.moe->experts, known.moe->experts) << name;
  EXPECT_EQ(read.moe->experts_per_token, known.moe->experts_per_token) << name;
  EXPECT_EQ(read.moe->shared_ffn_dim, known.moe->shared_ffn_dim) << name;
  EXPECT_EQ(read.moe->dense_layers, known.moe->dense_layers) << name;
}

TEST(HfConfig, DenseModelsReadAsTheCatalogueHasThem) {
  expect_same_shape(parsed(kLlama + kLlamaRope + R"(, "tie_word_embeddings": false)"),
                    "llama-3.1-8b");
  // Key-value heads default to heads.
  expect_same_shape(parsed(R"("architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
      "intermediate_size": 11008, "max_position_embeddings": 4096, "num_attention_heads": 32,
      "num_hidden_layers": 32, "rope_scaling": null, "vocab_size": 32000)"),
                    "llama-2-7b");
  // A window that is written but not used.
  expect_same_shape(parsed(R"("architectures": ["Qwen2ForCausalLM"], "hidden_size": 896,
      "intermediate_size": 4864, "max_position_embeddings": 32768, "max_window_layers": 21,
      "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
      "sliding_window": 32768, "tie_word_embeddings": true, "use_sliding_window": false,
      "vocab_size": 151936)"),
                    "qwen2.5-0.5b");
  // An explicit head_dim that is not hidden size / heads.
  expect_same_shape(parsed(R"("architectures": ["MistralForCausalLM"], "head_dim": 128,
      "hidden_size": 5120, "intermediate_size": 14336, "max_position_embeddings": 131072,
      "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8,
      "sliding_window": null, "vocab_size": 131072)"),
                    "mistral-nemo-12b");
  // Tied by default, windows on every second layer.
  expect_same_shape(parsed(R"("architectures": ["Gemma2ForCausalLM"], "head_dim": 256,
      "hidden_size": 3584, "intermediate_size": 14336, "max_position_embeddings": 8192,
      "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8,
      "sliding_window": 4096, "vocab_size": 256000)"),
                    "gemma-2-9b");
}

TEST(HfConfig, MixturesReadAsTheCatalogueHasThem) {
  expect_same_shape(parsed(R"("architectures": ["MixtralForCausalLM"], "hidden_size": 4096,
      "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
      "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "num_local_experts": 8, "sliding_window": null, "vocab_size": 32000)"),
                    "mixtral-8x7b");
  expect_same_shape(parsed(R"("architectures": ["Qwen3MoeForCausalLM"], "decoder_sparse_step": 1,
      "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144, "mlp_only_layers": [],
      "max_position_embeddings": 40960, "moe_intermediate_size": 768, "num_attention_heads": 32,
      "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
      "num_key_value_heads": 4, "vocab_size": 151936)"),
                    "qwen3-30b-a3b");
  expect_same_shape(parsed(R"("architectures": ["DeepseekV3ForCausalLM"],
      "first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432,
      "kv_lora_rank": 512, "max_position_embeddings": 163840, "moe_intermediate_size": 2048,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
      "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128,
      "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "quantization_config": {"fmt": "e4m3", "quant_method": "fp8"},
      "rope_scaling": {"factor": 40, "original_max_position_embeddings": 4096, "type": "yarn"},
      "vocab_size": 129280)"),
                    "deepseek-v3");
  expect_same_shape(parsed(R"("architectures": ["GptOssForCausalLM"], "experts_per_token": 4,
      "head_dim": 64, "hidden_size": 2880, "initial_context_length": 4096,
      "intermediate_size": 2880, "max_position_embeddings": 131072, "num_attention_heads": 64,
      "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32,
      "quantization_config": {"quant_method": "mxfp4"},
      "rope_scaling": {"factor": 32.0, "original_max_position_embeddings": 4096,
                       "rope_type": "yarn"},
      "sliding_window": 128, "tie_word_embeddings": false, "vocab_size": 201088)"),
                    "gpt-oss-20b");
}

TEST(HfConfig, TextPartOfMultimodalModels) {
  expect_same_shape(parsed(R"("architectures": ["Llama4ForConditionalGeneration"],
      "text_config": {"head_dim": 128, "hidden_size": 5120, "interleave_moe_layer_step": 1,
      "intermediate_size": 8192, "intermediate_size_mlp": 16384,
      "max_position_embeddings": 10485760, "num_attention_heads": 40, "num_experts_per_tok": 1,
      "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 16,
      "rope_scaling": {"factor": 16.0, "original_max_position_embeddings": 8192,
      "rope_type": "llama3"}, "vocab_size": 202048}, "vision_config": {"hidden_size": 1408})"),
                    "llama-4-scout");
}

TEST(HfConfig, RopeScalingExtendsTheContextByKind) {
  const std::string base = kLlama + R"(, "max_position_embeddings": 32768, "rope_scaling": )";
  EXPECT_EQ(parsed(base + R"({"factor": 4.0, "type": "yarn"})").max_context, 131072);
  EXPECT_EQ(parsed(base + R"({"factor": 4.0, "original_max_position_embeddings": 16384,
                              "rope_type": "yarn"})")
                .max_context,
            65536);
  EXPECT_EQ(parsed(base + R"({"factor": 2.0, "type": "linear"})").max_context, 65536);
  EXPECT_EQ(parsed(base + R"({"factor": 2.0, "type": "longrope"})").max_context, 32768);
  EXPECT_EQ(parsed(base + R"({"rope_type": "default"})").max_context, 32768);
}

TEST(HfConfig, WindowsCountOnlyWhenUsed) {
  const std::string qwen = R"("architectures": ["Qwen2ForCausalLM"], "hidden_size": 1024,
      "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
      "vocab_size": 1000, "max_position_embeddings": 32768, "sliding_window": 4096,
      "max_window_layers": 20, "use_sliding_window": )";
  EXPECT_EQ(parsed(qwen + "false").sliding_window, 0);
  EXPECT_EQ(parsed(qwen + "true").sliding_window_layers, 4);
  const std::string types = R"(, "layer_types": ["sliding_attention", "full_attention"])";
  EXPECT_EQ(parsed(qwen + "true" + types).sliding_window_layers, 1);
}

TEST(HfConfig, QuantisationGivesTheBitsOfAWeight) {
  const std::string base = kLlama + kLlamaRope + R"(, "quantization_config": )";
  EXPECT_EQ(parsed(base + R"({"quant_method": "fp8"})").native_weight_bits, 8);
  EXPECT_EQ(
      parsed(base + R"({"quant_method": "awq", "bits": 4, "group_size": 128})").native_weight_bits,
      4.15625);
  EXPECT_EQ(parsed(base + R"({"quant_method": "compressed-tensors", "config_groups": {"group_0":
                              {"weights": {"num_bits": 8, "type": "float"}}}})")
                .native_weight_bits,
            8);
  EXPECT_EQ(error_of(braced(base + R"({"quant_method": "magic"})")),
            "config.json: quantization_config.quant_method: \"magic\": expected one of fp8, "
            "fbgemm_fp8, mxfp4, awq, gptq, bitsandbytes, compressed-tensors, modelopt");
}

TEST(HfConfig, UnknownArchitectureListsTheKnownOnes) {
  EXPECT_TRUE(error_of(R"({"architectures": ["BertModel"]})")
                  .starts_with("config.json: architectures: [\"BertModel\"]: expected a list that "
                               "begins with one of DeepseekV2ForCausalLM, "));
  EXPECT_TRUE(error_of("{}").starts_with("config.json: architectures: missing: expected "));
}

TEST(HfConfig, MissingAndInvalidFieldsAreNamed) {
  EXPECT_EQ(error_of(braced(kLlama)),
            "config.json: max_position_embeddings: missing: expected a whole number of at least 1");
  EXPECT_EQ(error_of(braced(kLlama + R"(, "max_position_embeddings": -5)")),
            "config.json: max_position_embeddings: -5: expected a whole number of at least 1");
  EXPECT_EQ(error_of(braced(kLlama + R"(, "max_position_embeddings": "long")")),
            "config.json: max_position_embeddings: \"long\": expected a whole number of at least "
            "1");
  EXPECT_EQ(error_of(braced(kLlama + R"(, "max_position_embeddings": 1e300)")),
            "config.json: max_position_embeddings: 1e+300: expected a whole number of at least 1");
  EXPECT_EQ(error_of(braced(kLlama + R"(, "max_position_embeddings": 4096, "rope_scaling":
                                    {"type": "yarn", "factor": 0.5})")),
            "config.json: rope_scaling.factor: 0.5: expected a number from 1 to 1000000 for rope "
            "scaling of type yarn");
}

TEST(HfConfig, SizesThatNoModelHasAreRefused) {
  EXPECT_EQ(error_of(R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 1000000000,
      "intermediate_size": 1000000000, "max_position_embeddings": 4096,
      "num_attention_heads": 32, "num_hidden_layers": 1000000000, "vocab_size": 32000})"),
            "config.json: hidden_size: 1000000000: expected sizes of a model with less than 10^15 "
            "parameters");
}

TEST(HfConfig, BrokenJsonNamesTheLine) {
  EXPECT_EQ(error_of("{\n\"a\": 1,\n oops}"),
            "config.json:3: not valid JSON: expected one object of keys and values");
  EXPECT_EQ(error_of("[1, 2]"), "config.json: [1,2]: expected a JSON object of keys");
  EXPECT_FALSE(parse_hf_config("", "config.json", "test"));
  EXPECT_FALSE(parse_hf_config(std::string(100000, '['), "config.json", "test"));
}

// A folder below the system's temporary one, removed at the end.
class HfConfigFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("inferscale_hf_config_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_ / "my-model");
    std::ofstream(folder_ / "my-model" / "config.json") << braced(kLlama + kLlamaRope);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(HfConfigFile, FileAndFolderWorkWhereverANameDoes) {
  for (const char* path : {"my-model", "my-model/config.json", "./my-model"}) {
    const auto model = resolve_model(path, folder_.string());
    ASSERT_TRUE(model) << path << ": " << model.error().to_string();
    EXPECT_EQ(model->name, "my-model");
    EXPECT_EQ(model->total_parameters(), find_model("llama-3.1-8b")->total_parameters());
  }
  EXPECT_EQ(resolve_model("meta-llama/Llama-3.1-8B", folder_.string())->name, "llama-3.1-8b");
}

TEST_F(HfConfigFile, WhatIsNeitherNameNorFileIsAnError) {
  const auto typo = resolve_model("llama-3.1-8", folder_.string());
  ASSERT_FALSE(typo);
  EXPECT_NE(typo.error().message.find("did you mean 'llama-3.1-8b'?"), std::string::npos);
  const auto absent = resolve_model("other/config.json", folder_.string());
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().to_string().find("other/config.json"), std::string::npos);
  EXPECT_FALSE(resolve_model("", folder_.string()));
}

}  // namespace
}  // namespace inferscale
