// Reading hardware, parallel and precision: defaults, inline hardware, and one error for each
// mistake.

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

HardwareSpec hardware_of(const ConfigNode& root, ConfigSession& session) {
  ConfigReader reader(root, session);
  HardwareSpec hardware = read_hardware(reader);
  reader.finish();
  return hardware;
}

DeploymentShape shape_of(const ConfigNode& root, ConfigSession& session,
                         const char* hardware = "h100-sxm", const char* model = "llama-3.1-8b") {
  ConfigReader reader(root, session);
  DeploymentShape shape =
      read_deployment_shape(reader, *find_model(model), *find_accelerator(hardware));
  reader.finish();
  return shape;
}

TEST(DeploymentOptions, HardwareByName) {
  ConfigSession session;
  EXPECT_EQ(hardware_of(deployment({{"hardware", "h100-sxm"}}), session).name, "h100-sxm");
  EXPECT_FALSE(session.failed());
}

TEST(DeploymentOptions, UnknownHardwareNamesPlaceAndNearestName) {
  ConfigSession session;
  hardware_of(deployment({{"hardware", "h100-smx"}}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_TRUE(session.error().to_string().starts_with(
      "run.yaml:2: hardware: 'h100-smx': unknown hardware 'h100-smx': did you mean 'h100-sxm'?"))
      << session.error().to_string();
}

TEST(DeploymentOptions, MissingHardwareIsAnError) {
  ConfigSession session;
  hardware_of(deployment({}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:1: hardware: missing: expected a name of the catalogue or a map");
}

TEST(DeploymentOptions, InlineHardwareTakesUnitsAndDefaults) {
  ConfigSession session;
  const HardwareSpec hardware = hardware_of(deployment({{"hardware.memory_gib", "24"},
                                                        {"hardware.memory_bandwidth_gb_s", "936"},
                                                        {"hardware.flops_16bit_tflops", "71"},
                                                        {"hardware.memory_efficiency", "0.8"}}),
                                            session);
  ASSERT_FALSE(session.failed()) << session.error().to_string();
  EXPECT_EQ(hardware.name, "custom");
  EXPECT_EQ(hardware.memory_bytes, 24.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(hardware.memory_bandwidth, 936e9);
  EXPECT_EQ(hardware.flops_16bit, 71e12);
  EXPECT_EQ(hardware.flops_8bit, 0);
  EXPECT_EQ(hardware.memory_efficiency, 0.8);
  EXPECT_EQ(hardware.compute_efficiency, 0.5);
  EXPECT_EQ(hardware.step_overhead_s, 1e-3);
}

TEST(DeploymentOptions, InlineHardwareIsReadStrictly) {
  ConfigSession missing;
  hardware_of(deployment({{"hardware.memory_gib", "24"}}), missing);
  ASSERT_TRUE(missing.failed());
  EXPECT_EQ(missing.error().to_string(),
            "run.yaml:2: hardware.memory_bandwidth_gb_s: missing: expected a number of at least 1 "
            "and at most 1000000");
  ConfigSession unknown;
  hardware_of(deployment({{"hardware.memory_gib", "24"}, {"hardware.memory_bandwith_gb_s", "1"}}),
              unknown);
  ASSERT_TRUE(unknown.failed());
  EXPECT_NE(unknown.error().message.find("did you mean 'memory_bandwidth_gb_s'?"),
            std::string::npos);
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

TEST(DeploymentOptions, OtherParallelismsAreRefusedByName) {
  for (const char* path : {"parallel.pipeline", "parallel.expert", "parallel.data"}) {
    ConfigSession session;
    shape_of(deployment({{path, "2"}}), session);
    ASSERT_TRUE(session.failed()) << path;
    EXPECT_NE(session.error().message.find(std::string(path) + ": '2': expected 1"),
              std::string::npos);
  }
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
  read_hardware(reader);
  read_deployment_shape(reader, {}, {});
  ASSERT_FALSE(session.failed());
  for (const char* path : {"hardware", "hardware.memory_gib", "hardware.sequence_overhead_us",
                           "parallel.tensor", "parallel.data", "precision.kv"}) {
    EXPECT_TRUE(std::ranges::any_of(session.descriptions(), [&](const KeyDescription& key) {
      return key.path == path && !key.doc.empty();
    })) << path;
  }
}

}  // namespace
}  // namespace inferscale
