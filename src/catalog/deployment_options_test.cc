// Reading parallel and precision: defaults, and one error for each mistake.

#include "catalog/deployment_options.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/accelerators.h"
#include "catalog/models.h"

namespace inferscale {
namespace {

SourcePosition at(int line) {
  return {"run.yaml", line};
}

ConfigNode scalar(const char* text) {
  return ConfigNode::scalar(text, false, at(2));
}

struct Setting {
  const char* path;
  const char* value;
};

ConfigNode deployment(std::initializer_list<Setting> settings) {
  ConfigNode root = ConfigNode::map(at(1));
  for (const auto& [path, value] : settings) {
    EXPECT_TRUE(root.set_path(path, scalar(value))) << path;
  }
  return root;
}

DeploymentShape shape_of(const ConfigNode& root, ConfigSession& session,
                         const char* hardware = "h100-sxm", const char* model = "llama-3.1-8b") {
  ConfigReader reader(root, session);
  DeploymentShape shape =
      read_deployment_shape(reader, *find_model(model), *find_accelerator(hardware));
  reader.finish();
  return shape;
}

TEST(DeploymentOptions, ShapeDefaultsToOneAcceleratorAndBf16) {
  ConfigSession session;
  const DeploymentShape shape = shape_of(deployment({}), session);
  ASSERT_FALSE(session.failed());
  EXPECT_EQ(shape.tensor, 1);
  EXPECT_EQ(shape.weight_bits, 16);
  EXPECT_EQ(shape.kv_bits, 16);
  EXPECT_FALSE(shape.compute_8bit);
}

TEST(DeploymentOptions, TensorParallelismMustDivideTheHeads) {
  ConfigSession fine;
  EXPECT_EQ(shape_of(deployment({{"parallel.tensor", "16"}}), fine).tensor, 16);
  EXPECT_FALSE(fine.failed());
  ConfigSession session;
  shape_of(deployment({{"parallel.tensor", "3"}}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:2: parallel.tensor: '3': expected a divisor of the 32 attention heads of "
            "llama-3.1-8b");
}

TEST(DeploymentOptions, AReplicaOccupiesTensorTimesPipelineTimesData) {
  ConfigSession session;
  const DeploymentShape shape = shape_of(deployment({{"parallel.tensor", "4"},
                                                     {"parallel.pipeline", "3"},
                                                     {"parallel.data", "2"},
                                                     {"parallel.expert", "8"}}),
                                         session, "h100-sxm", "deepseek-v3");
  ASSERT_FALSE(session.failed()) << session.error().to_string();
  EXPECT_EQ(shape.accelerators(), 24);
  EXPECT_TRUE(shape.spreads_experts());
  EXPECT_EQ(shape.stage_layers(61), 21);
}

struct Refused {
  const char* model;
  std::initializer_list<Setting> settings;
  const char* message;
};

TEST(DeploymentOptions, ParallelismThatCannotBeSaysWhatCan) {
  const Refused rows[] = {
      {"llama-3.1-8b",
       {{"parallel.pipeline", "33"}},
       "run.yaml:2: parallel.pipeline: '33': expected at most the 32 layers of llama-3.1-8b"},
      {"llama-3.1-8b",
       {{"parallel.data", "2"}, {"parallel.expert", "2"}},
       "run.yaml:2: parallel.expert: '2': expected 1: llama-3.1-8b has no routed experts"},
      {"mixtral-8x7b",
       {{"parallel.tensor", "2"}, {"parallel.data", "2"}, {"parallel.expert", "2"}},
       "run.yaml:2: parallel.expert: '2': expected 1 (experts are cut by tensor parallelism) or "
       "tensor x data (4, over which whole experts are spread)"},
      {"mixtral-8x7b",
       {{"parallel.tensor", "4"}, {"parallel.data", "4"}, {"parallel.expert", "16"}},
       "run.yaml:2: parallel.expert: '16': expected at most the 8 routed experts of mixtral-8x7b"},
      {"mixtral-8x7b",
       {{"parallel.data", "0"}},
       "run.yaml:2: parallel.data: '0': expected a whole number of at least 1 and at most 1024"},
  };
  for (const Refused& row : rows) {
    ConfigSession session;
    shape_of(deployment(row.settings), session, "h100-sxm", row.model);
    ASSERT_TRUE(session.failed()) << row.message;
    EXPECT_EQ(session.error().to_string(), row.message);
  }
}

TEST(DeploymentOptions, DenseModelsMayHaveDataRanks) {
  ConfigSession session;
  EXPECT_EQ(shape_of(deployment({{"parallel.data", "4"}}), session).accelerators(), 4);
  EXPECT_FALSE(session.failed());
}

TEST(DeploymentOptions, EightBitWeightsComputeAtTheEightBitRateWhereThereIsOne) {
  struct Row {
    const char* weights;
    const char* hardware;
    bool compute_8bit;
  };
  for (const auto& [weights, hardware, compute_8bit] :
       {Row{"fp8", "h100-sxm", true}, Row{"int8", "h100-sxm", true}, Row{"int8", "a100-80gb", true},
        Row{"fp8", "a100-80gb", false}, Row{"int4", "h100-sxm", false},
        Row{"bf16", "h100-sxm", false}}) {
    ConfigSession session;
    const DeploymentShape shape =
        shape_of(deployment({{"precision.weights", weights}}), session, hardware);
    ASSERT_FALSE(session.failed());
    EXPECT_EQ(shape.compute_8bit, compute_8bit) << weights << " on " << hardware;
  }
}

TEST(DeploymentOptions, NativeWeightsAreTheModelsOwn) {
  const ConfigNode native = deployment({{"precision.weights", "native"}});
  ConfigSession session;
  EXPECT_EQ(shape_of(native, session).weight_bits, 16);
  const DeploymentShape deepseek = shape_of(native, session, "h100-sxm", "deepseek-v3");
  EXPECT_EQ(deepseek.weight_bits, 8);
  EXPECT_TRUE(deepseek.compute_8bit);
  EXPECT_FALSE(deepseek.only_experts_quantised);
  const DeploymentShape gpt_oss = shape_of(native, session, "h100-sxm", "gpt-oss-20b");
  EXPECT_EQ(gpt_oss.weight_bits, 4.25);
  EXPECT_TRUE(gpt_oss.only_experts_quantised);
  EXPECT_FALSE(session.failed());
}

TEST(DeploymentOptions, UnknownFormatListsTheKnownOnes) {
  ConfigSession session;
  shape_of(deployment({{"precision.weights", "bf15"}}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_NE(session.error().message.find("mxfp4"), std::string::npos);
  EXPECT_NE(session.error().message.find("did you mean 'bf16'?"), std::string::npos);
}

TEST(DeploymentOptions, DescriptionHoldsEveryKey) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode empty;
  ConfigReader reader(empty, session);
  read_deployment_shape(reader, {}, {});
  ASSERT_FALSE(session.failed());
  for (const char* path : {"parallel.tensor", "parallel.pipeline", "parallel.expert",
                           "parallel.data", "precision.weights", "precision.kv"}) {
    EXPECT_TRUE(std::ranges::any_of(session.descriptions(), [&](const KeyDescription& key) {
      return key.path == path && !key.doc.empty();
    })) << path;
  }
}

}  // namespace
}  // namespace inferscale
