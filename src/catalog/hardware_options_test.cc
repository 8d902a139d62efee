// Reading hardware: by name, described inline, and one error for each mistake.

#include "catalog/hardware_options.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(HardwareOptions, HardwareByName) {
  ConfigSession session;
  EXPECT_EQ(hardware_of(deployment({{"hardware", "h100-sxm"}}), session).name, "h100-sxm");
  EXPECT_FALSE(session.failed());
}

TEST(HardwareOptions, UnknownHardwareNamesPlaceAndNearestName) {
  ConfigSession session;
  hardware_of(deployment({{"hardware", "h100-smx"}}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_TRUE(session.error().to_string().starts_with(
      "run.yaml:2: hardware: 'h100-smx': unknown hardware 'h100-smx': did you mean 'h100-sxm'?"))
      << session.error().to_string();
}

TEST(HardwareOptions, MissingHardwareIsAnError) {
  ConfigSession session;
  hardware_of(deployment({}), session);
  ASSERT_TRUE(session.failed());
  EXPECT_EQ(session.error().to_string(),
            "run.yaml:1: hardware: missing: expected a name of the catalogue or a map");
}

TEST(HardwareOptions, InlineHardwareTakesUnitsAndDefaults) {
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
  EXPECT_EQ(hardware.accelerators_per_node, 8);
  EXPECT_EQ(hardware.node_link_bandwidth, 9e9);
  EXPECT_EQ(hardware.node_link_latency_s, 17e-6);
}

TEST(HardwareOptions, InlineHardwareIsReadStrictly) {
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

TEST(HardwareOptions, TheNetworkBetweenNodesIsRead) {
  ConfigSession session;
  const HardwareSpec hardware =
      hardware_of(deployment({{"hardware.memory_gib", "24"},
                              {"hardware.memory_bandwidth_gb_s", "936"},
                              {"hardware.flops_16bit_tflops", "71"},
                              {"hardware.accelerators_per_node", "4"},
                              {"hardware.node_link_bandwidth_gb_s", "2.5"},
                              {"hardware.node_link_latency_us", "30"}}),
                  session);
  ASSERT_FALSE(session.failed()) << session.error().to_string();
  EXPECT_EQ(hardware.accelerators_per_node, 4);
  EXPECT_EQ(hardware.node_link_bandwidth, 2.5e9);
  EXPECT_DOUBLE_EQ(hardware.node_link_latency_s, 30e-6);
}

TEST(HardwareOptions, DescriptionHoldsEveryKey) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode empty;
  ConfigReader reader(empty, session);
  read_hardware(reader);
  ASSERT_FALSE(session.failed());
  for (const char* path : {"hardware", "hardware.memory_gib", "hardware.accelerators_per_node",
                           "hardware.node_link_latency_us", "hardware.sequence_overhead_us"}) {
    EXPECT_TRUE(std::ranges::any_of(session.descriptions(), [&](const KeyDescription& key) {
      return key.path == path && !key.doc.empty();
    })) << path;
  }
}

}  // namespace
}  // namespace inferscale
