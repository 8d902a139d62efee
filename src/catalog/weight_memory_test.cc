// Weights on each accelerator against what engines logged after loading, and against hand counts.

#include "catalog/weight_memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catalog/models.h"

namespace inferscale {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

double loaded_gib(const char* name, const DeploymentShape& shape) {
  return weight_bytes_per_accelerator(*find_model(name), shape) / kGib;
}

// "Model loading took" of vLLM on H100, as llm-d-benchmark recorded it (docs/kv_memory.md).
TEST(WeightMemory, AgreesWithWhatEnginesLoaded) {
  EXPECT_NEAR(loaded_gib("llama-3.1-8b", {}), 14.99, 0.05);
  EXPECT_NEAR(loaded_gib("qwen3-0.6b", {}), 1.12, 0.02);
  EXPECT_NEAR(loaded_gib("qwen3-32b", {}), 61.03, 0.05);
  EXPECT_NEAR(loaded_gib("qwen3-32b", {.tensor = 2}), 30.59, 0.12);
  // FP8 checkpoint of Llama-3.3-70B: embedding and output head stay at 16 bits.
  EXPECT_NEAR(loaded_gib("llama-3.1-70b", {.weight_bits = 8}), 67.72, 0.1);
  EXPECT_NEAR(loaded_gib("llama-3.1-70b", {.tensor = 2, .weight_bits = 8}), 33.88, 0.1);
}

TEST(WeightMemory, Mxfp4ExpertsAloneAreQuantisedAndPadded) {
  const DeploymentShape shape{.weight_bits = 4.25, .only_experts_quantised = true};
  EXPECT_NEAR(loaded_gib("gpt-oss-20b", shape), 13.47, 0.01 * 13.47);
  EXPECT_NEAR(loaded_gib("gpt-oss-120b", shape), 64.38, 0.01 * 64.38);
}

TEST(WeightMemory, KvHeadsRepeatWhenThereAreFewerThanAccelerators) {
  const ModelSpec model = *find_model("llama-3.1-70b");  // 8 KV heads
  EXPECT_EQ(kv_heads_per_accelerator(model, 4), 2);
  EXPECT_EQ(kv_heads_per_accelerator(model, 8), 1);
  EXPECT_EQ(kv_heads_per_accelerator(model, 16), 1);
  // 80 layers x 2 x 1 head x 128 x 2 bytes.
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.tensor = 8}), 40960);
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.tensor = 16}), 40960);
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.tensor = 1}), 327680);
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.tensor = 1, .kv_bits = 8}), 163840);
}

TEST(WeightMemory, CompressedKvOfMlaIsOnEachAccelerator) {
  const ModelSpec model = *find_model("deepseek-v3");
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.tensor = 1}), 70272);
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.tensor = 8}), 70272);
}

TEST(WeightMemory, PartsOfAllAcceleratorsAddUpToTheModelAndWhatIsRepeated) {
  const ModelSpec model = *find_model("llama-3.1-8b");
  const double whole = weight_bytes_per_accelerator(model, {});
  EXPECT_EQ(whole, 2.0 * static_cast<double>(model.total_parameters()));
  const double norms = 2.0 * 65 * 4096;  // two of each layer and one at the end, on each
  EXPECT_NEAR(8 * weight_bytes_per_accelerator(model, {.tensor = 8}), whole + 7 * norms, 1.0);
  // At 16 each of the 8 KV heads is kept twice: 32 layers x 2 x 4096 x 1024 numbers more.
  const double repeated = 2.0 * 32 * 2 * 4096 * 1024;
  EXPECT_NEAR(16 * weight_bytes_per_accelerator(model, {.tensor = 16}),
              whole + 15 * norms + repeated, 1.0);
}

TEST(WeightMemory, AStageHasItsLayersAndOneEmbedding) {
  const ModelSpec model = *find_model("llama-3.1-8b");
  // 8 of 32 layers of 218,103,808 weights, 17 norms of 4096, and 128256 x 4096.
  EXPECT_EQ(weight_bytes_per_accelerator(model, {.pipeline = 4}),
            2.0 * (8.0 * 218'103'808 + 17.0 * 4096 + 525'336'576));
  // 32 layers over 3 stages: the fullest has 11.
  EXPECT_EQ(weight_bytes_per_accelerator(model, {.pipeline = 3}),
            2.0 * (11.0 * 218'103'808 + 23.0 * 4096 + 525'336'576));
  EXPECT_EQ(kv_bytes_per_token_per_accelerator(model, {.pipeline = 3}), 11.0 * 4096);
}

TEST(WeightMemory, SpreadExpertsLieWhole) {
  const ModelSpec model = *find_model("deepseek-v3");  // 58 MoE layers of 256 experts
  const double expert = 3.0 * 7168 * 2048;
  const auto bytes = [&](std::int64_t expert_parallel) {
    const DeploymentShape shape{
        .tensor = 1, .expert = expert_parallel, .data = expert_parallel, .weight_bits = 8};
    return weight_bytes_per_accelerator(model, shape);
  };
  // Data ranks repeat the rest: only the experts become fewer.
  EXPECT_EQ(bytes(1) - bytes(64), 58 * expert * (256 - 4));
  // 256 over 24: ten of the accelerators have 11 and the others fewer; the fullest counts.
  EXPECT_EQ(bytes(1) - bytes(24), 58 * expert * (256 - 11));
}

}  // namespace
}  // namespace inferscale
