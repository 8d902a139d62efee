#include "core/measurement.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace inferscale {
namespace {

// A configuration of one key, measurement.warmup_s.
ConfigNode written(const char* text, bool quoted = false) {
  ConfigNode root = ConfigNode::map({"run.yaml", 1});
  EXPECT_TRUE(
      root.set_path("measurement.warmup_s", ConfigNode::scalar(text, quoted, {"run.yaml", 7})));
  return root;
}

struct Read {
  MeasurementOptions options;
  std::string error;
  std::string effective;
};

Read read(const ConfigNode& root) {
  ConfigSession session;
  ConfigReader reader(root, session);
  Read result{.options = read_measurement(reader)};
  reader.finish();
  if (session.failed()) result.error = session.error().to_string();
  const ConfigNode* map = session.effective().find("measurement");
  if (map != nullptr) result.effective = map->find("warmup_s")->text();
  return result;
}

TEST(Measurement, NothingWrittenIsNoWarmup) {
  const Read nothing = read(ConfigNode::map({"run.yaml", 1}));
  EXPECT_EQ(nothing.error, "");
  EXPECT_EQ(nothing.options.warmup, Duration());
  EXPECT_FALSE(nothing.options.warmup_auto);
  EXPECT_EQ(nothing.effective, "0");
}

TEST(Measurement, TakesSecondsOrAuto) {
  const Read seconds = read(written("12.5"));
  EXPECT_EQ(seconds.error, "");
  EXPECT_EQ(seconds.options.warmup, Duration::from_millis(12500));
  EXPECT_EQ(seconds.effective, "12.5");
  const Read automatic = read(written("auto"));
  EXPECT_EQ(automatic.error, "");
  EXPECT_TRUE(automatic.options.warmup_auto);
  EXPECT_EQ(automatic.effective, "auto");
}

TEST(Measurement, AnythingElseIsRefusedWithItsPlace) {
  for (const char* text : {"-1", "1e10", "Auto", "10s", ".nan"}) {
    EXPECT_EQ(read(written(text)).error, "run.yaml:7: measurement.warmup_s: '" + std::string(text) +
                                             "': expected seconds, 0 to 1e9, or auto");
  }
  EXPECT_NE(read(written("auto", true)).error, "");
  ConfigNode root = written("1");
  ASSERT_TRUE(
      root.set_path("measurement.warm_up", ConfigNode::scalar("1", false, {"run.yaml", 8})));
  EXPECT_NE(read(root).error.find("warm_up"), std::string::npos);
}

TEST(Measurement, DescribesItsKeyOnce) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode root = ConfigNode::map({});
  ConfigReader reader(root, session);
  read_measurement(reader);
  const auto& all = session.descriptions();
  const auto is_warmup = [](const KeyDescription& key) {
    return key.path == "measurement.warmup_s" && key.fallback == "0" && key.type == "number | auto";
  };
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_warmup), 1);
  EXPECT_EQ(all.size(), 2U);
}

}  // namespace
}  // namespace inferscale
