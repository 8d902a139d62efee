// Shapes against what their publishers say: parameter counts (the tensors' total that Hugging Face
// shows for each checkpoint, or the model card's) and KV bytes worked out by hand.

#include "catalog/models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "catalog/name_lookup.h"

namespace inferscale {
namespace {

struct PublishedCount {
  const char* name;
  double parameters;
};

// Tied output heads counted once. Scout and DeepSeek-V3: without vision encoder and multi-token
// prediction, 107.8 of 108.6 and 671 of 685 billion.
constexpr PublishedCount kPublished[] = {
    {"llama-2-7b", 6738415616},        {"llama-2-13b", 13015864320},
    {"llama-2-70b", 68976648192},      {"codellama-34b", 33743970304},
    {"llama-3-8b", 8030261248},        {"llama-3-70b", 70553706496},
    {"llama-3.1-8b", 8030261248},      {"llama-3.1-70b", 70553706496},
    {"llama-3.1-405b", 405853388800},  {"llama-3.2-1b", 1235814400},
    {"llama-3.2-3b", 3212749824},      {"llama-4-scout", 107.77e9},
    {"qwen2.5-0.5b", 494032768},       {"qwen2.5-1.5b", 1543714304},
    {"qwen2.5-3b", 3085938688},        {"qwen2.5-7b", 7615616512},
    {"qwen2.5-14b", 14770033664},      {"qwen2.5-32b", 32763876352},
    {"qwen2.5-72b", 72706203648},      {"qwen3-0.6b", 596049920},
    {"qwen3-8b", 8190735360},          {"qwen3-14b", 14768307200},
    {"qwen3-32b", 32762123264},        {"qwen3-30b-a3b", 30532122624},
    {"qwen3-235b-a22b", 235093634560}, {"mistral-7b", 7248023552},
    {"mistral-nemo-12b", 12247782400}, {"mistral-small-24b", 23572403200},
    {"mixtral-8x7b", 46702792704},     {"mixtral-8x22b", 140620634112},
    {"yi-34b", 34388917248},           {"phi-4", 14659507200},
    {"gemma-2-9b", 9241705984},        {"gemma-2-27b", 27227128320},
    {"deepseek-v2-lite", 15706484224}, {"deepseek-v3", 671e9},
    {"gpt-oss-20b", 20.91e9},          {"gpt-oss-120b", 116.83e9},
};

TEST(Models, ParameterCountsAreThePublishedOnesWithinOnePercent) {
  std::set<std::string> checked;
  for (const auto& [name, parameters] : kPublished) {
    const auto model = find_model(name);
    ASSERT_TRUE(model) << name;
    const double counted = static_cast<double>(model->total_parameters());
    EXPECT_LT(std::abs(counted / parameters - 1), 0.01) << name << " has " << counted;
    checked.insert(name);
  }
  for (const CatalogModel& model : catalog_models()) {
    EXPECT_TRUE(checked.contains(model.spec.name)) << model.spec.name << " is not compared";
  }
}

// Without biases and with two norms a layer the count is exact.
TEST(Models, PlainShapesCountExactly) {
  for (const char* name : {"llama-2-7b", "llama-3.1-8b", "llama-3.1-405b", "mixtral-8x7b",
                           "mistral-nemo-12b", "yi-34b"}) {
    double published = 0;
    for (const auto& [other, parameters] : kPublished) {
      if (std::string(other) == name) published = parameters;
    }
    EXPECT_EQ(static_cast<double>(find_model(name)->total_parameters()), published) << name;
  }
}

TEST(Models, KvNumbersOfOneTokenAsWorkedOutByHand) {
  // 2 (K, V) x 32 layers x 8 heads x 128 = 65,536 numbers: 131,072 bytes with bf16.
  EXPECT_EQ(find_model("llama-3.1-8b")->kv_elements_per_token() * 2, 131072);
  // 61 layers x (512 + 64): 70,272 bytes with bf16.
  EXPECT_EQ(find_model("deepseek-v3")->kv_elements_per_token() * 2, 70272);
  // 2 x 24 x 2 x 64 x 2 bytes, as an engine reported for Qwen2.5-0.5B (12,288 bytes a token).
  EXPECT_EQ(find_model("qwen2.5-0.5b")->kv_elements_per_token() * 2, 12288);
  // 2 x 40 x 8 x 128 x 2 bytes, measured in an engine's log for Mistral-Small-24B: 163,840.
  EXPECT_EQ(find_model("mistral-small-24b")->kv_elements_per_token() * 2, 163840);
}

// Activated parameters in billions as the model cards give them.
TEST(Models, ActiveParametersOfMixturesAreThePublishedOnes) {
  struct Row {
    const char* name;
    double billions;
  };
  // Mixtral 12.9, Qwen3 3.3 and 22 (cards), DeepSeek-V3 36.6 (with the output head),
  // gpt-oss 5.1 and 3.6 (without the embedding).
  for (const auto& [name, billions] :
       {Row{"mixtral-8x7b", 12.9}, Row{"qwen3-30b-a3b", 3.3}, Row{"qwen3-235b-a22b", 22.2},
        Row{"deepseek-v3", 37.5}, Row{"gpt-oss-20b", 4.2}, Row{"gpt-oss-120b", 5.7}}) {
    const ModelSpec model = *find_model(name);
    const std::int64_t idle = model.moe->experts - model.moe->experts_per_token;
    const std::int64_t active =
        model.total_parameters() - model.moe_layers() * idle * model.expert_parameters();
    EXPECT_LT(std::abs(static_cast<double>(active) / 1e9 / billions - 1), 0.05)
        << name << " has " << active;
  }
}

TEST(Models, ShapesAreConsistent) {
  for (const CatalogModel& entry : catalog_models()) {
    const ModelSpec& model = entry.spec;
    EXPECT_EQ(model.heads % model.kv_heads, 0) << model.name;
    EXPECT_GE(model.max_context, 4096) << model.name;
    EXPECT_LE(model.sliding_window_layers, model.layers) << model.name;
    EXPECT_EQ(model.sliding_window > 0, model.sliding_window_layers > 0) << model.name;
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_FALSE(entry.aliases.empty()) << model.name;
  }
}

TEST(Models, NamesAndIdsAreUnique) {
  std::set<std::string> seen;
  for (const CatalogModel& entry : catalog_models()) {
    EXPECT_TRUE(seen.insert(lower_case(entry.spec.name)).second) << entry.spec.name;
    for (const std::string& alias : entry.aliases) {
      EXPECT_TRUE(seen.insert(lower_case(alias)).second) << alias;
    }
  }
}

TEST(Models, FoundByNameAndByHuggingFaceIdWhateverTheCase) {
  EXPECT_EQ(find_model("llama-3.1-8b")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("LLAMA-3.1-8B")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("meta-llama/Llama-3.1-8B")->name, "llama-3.1-8b");
  EXPECT_EQ(find_model("Meta-Llama/llama-3.1-8b-instruct")->name, "llama-3.1-8b");
}

TEST(Models, UnknownNameGetsTheNearestOneAndTheHint) {
  const auto model = find_model("llama-3.1-8bb");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(model.error().message.starts_with(
      "unknown model 'llama-3.1-8bb': did you mean 'llama-3.1-8b'? the path of a Hugging Face "
      "config.json works too; known: llama-2-7b, "))
      << model.error().message;
  EXPECT_FALSE(find_model(""));
}

}  // namespace
}  // namespace inferscale
