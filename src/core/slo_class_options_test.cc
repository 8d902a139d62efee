// Classes as they are written, and one error for each mistake, with its place.

#include "core/slo_class_options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace inferscale {
namespace {

struct Read {
  std::vector<SloClass> classes;
  std::string error;
};

Read read(std::initializer_list<std::pair<const char*, const char*>> written) {
  ConfigNode root = ConfigNode::map({"run.yaml", 1});
  for (const auto& [path, value] : written) {
    EXPECT_TRUE(root.set_path(std::string("slo_classes.") + path,
                              ConfigNode::scalar(value, false, {"run.yaml", 7})));
  }
  ConfigSession session;
  ConfigReader reader(root, session);
  Read result{.classes = read_slo_classes(reader), .error = {}};
  reader.finish();
  if (session.failed()) result.error = session.error().to_string();
  return result;
}

TEST(SloClassOptions, NothingWrittenIsNoClass) {
  const Read nothing = read({});
  EXPECT_EQ(nothing.error, "");
  EXPECT_TRUE(nothing.classes.empty());
}

TEST(SloClassOptions, AClassStatesItsWholeSloAndItsPriority) {
  const Read two = read({{"interactive.slo.ttft_ms", "500"},
                         {"interactive.slo.itl_ms", "50"},
                         {"interactive.priority", "10"},
                         {"interactive.share", "0.3"},
                         {"batch.slo.e2e_ms", "60000"},
                         {"batch.slo.itl_rule", "max"},
                         {"batch.share", "0.7"}});
  ASSERT_EQ(two.error, "");
  ASSERT_EQ(two.classes.size(), 2U);
  const SloClass& interactive = two.classes[0];
  EXPECT_EQ(interactive.name, "interactive");
  EXPECT_EQ(interactive.slo.ttft, Duration::from_millis(500));
  EXPECT_EQ(interactive.slo.itl, Duration::from_millis(50));
  EXPECT_EQ(interactive.slo.e2e, std::nullopt);
  EXPECT_EQ(interactive.priority, 10);
  EXPECT_EQ(interactive.share, 0.3);
  const SloClass& batch = two.classes[1];
  EXPECT_EQ(batch.slo.ttft, std::nullopt);
  EXPECT_EQ(batch.slo.e2e, Duration::from_seconds(60));
  EXPECT_EQ(batch.slo.itl_rule, ItlRule::kMax);
  EXPECT_EQ(batch.priority, 0);
  EXPECT_EQ(find_slo_class(two.classes, "batch"), 1);
  EXPECT_EQ(find_slo_class(two.classes, "bulk"), std::nullopt);
  EXPECT_EQ(names_of(two.classes), "interactive, batch");
}

TEST(SloClassOptions, WhoStatesNoShareHasAnEvenPartOfTheRest) {
  const Read three = read({{"a.share", "0.5"}, {"b.priority", "1"}, {"c.priority", "2"}});
  ASSERT_EQ(three.error, "");
  EXPECT_EQ(three.classes[0].share, 0.5);
  EXPECT_EQ(three.classes[1].share, 0.25);
  EXPECT_EQ(three.classes[2].share, 0.25);
  // Tenths have no exact sum in binary.
  EXPECT_EQ(read({{"a.share", "0.1"}, {"b.share", "0.2"}, {"c.share", "0.7"}}).error, "");
  EXPECT_EQ(read({{"a.share", "0"}, {"b.share", "1"}}).error, "");
}

TEST(SloClassOptions, SharesSumToOne) {
  EXPECT_EQ(read({{"a.share", "0.3"}, {"b.share", "0.6"}}).error,
            "run.yaml:7: slo_classes: shares sum to 0.9 (a 0.3, b 0.6): expected a sum of 1");
  EXPECT_EQ(read({{"a.share", "0.4"}, {"b.share", "0.7"}, {"c.priority", "1"}}).error,
            "run.yaml:7: slo_classes: shares sum to 1.1 (a 0.4, b 0.7): expected a sum of 1, or "
            "less where a class is to have the rest");
  // Nothing is left for c.
  EXPECT_NE(read({{"a.share", "1"}, {"c.priority", "1"}}).error, "");
}

TEST(SloClassOptions, ErrorsSayWhere) {
  EXPECT_NE(read({{"a.ttft_ms", "500"}}).error.find("run.yaml:7: unknown key 'slo_classes.a.ttft"),
            std::string::npos);
  EXPECT_NE(read({{"a.share", "1.5"}}).error.find("run.yaml:7: slo_classes.a.share"),
            std::string::npos);
  EXPECT_NE(read({{"a.slo.ttft_ms", "0"}}).error.find("slo_classes.a.slo.ttft_ms"),
            std::string::npos);
  EXPECT_NE(read({{"a.priority", "2000000"}}).error.find("slo_classes.a.priority"),
            std::string::npos);
}

TEST(SloClassOptions, AByteNumbersThem) {
  ConfigNode root = ConfigNode::map({"run.yaml", 1});
  for (int i = 0; i < 256; ++i) {
    EXPECT_TRUE(root.set_path("slo_classes.c" + std::to_string(i) + ".priority",
                              ConfigNode::scalar("1", false, {"run.yaml", 7})));
  }
  ConfigSession session;
  ConfigReader reader(root, session);
  EXPECT_TRUE(read_slo_classes(reader).empty());
  ASSERT_TRUE(session.failed());
  EXPECT_NE(session.error().message.find("256 classes: expected at most 255"), std::string::npos);
}

}  // namespace
}  // namespace inferscale
