// Differences of configurations, of every kind of value.

#include "study/comparison/config_difference.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/edge/yaml_config.h"

namespace inferscale {
namespace {

std::vector<ConfigDifference> between(const std::string& a, const std::string& b,
                                      std::vector<std::string_view> but = {}) {
  const Result<ConfigNode> first = parse_yaml(a, "a.yaml");
  const Result<ConfigNode> second = parse_yaml(b, "b.yaml");
  CHECK(first && second);
  return config_differences(*first, *second, but);
}

using Differences = std::vector<ConfigDifference>;

TEST(ConfigDifference, NamesTheKeysByTheirPath) {
  EXPECT_EQ(between("{a: {b: 1, c: x}, d: 2}", "{a: {b: 1, c: y}, d: 3}"),
            (Differences{{"a.c", "x", "y"}, {"d", "2", "3"}}));
}

TEST(ConfigDifference, KeysOfOneOnly) {
  EXPECT_EQ(between("{a: {b: 1}}", "{a: {c: 2}}"),
            (Differences{{"a.b", "1", "null"}, {"a.c", "null", "2"}}));
  EXPECT_EQ(between("{a: null}", "{}"), Differences{});
}

TEST(ConfigDifference, AMapAgainstNoneAndListsAreWhole) {
  EXPECT_EQ(between("{a: null, b: [1, 2]}", "{a: {x: 1}, b: [1, 3]}"),
            (Differences{{"a", "null", R"({"x":1})"}, {"b", "[1,2]", "[1,3]"}}));
}

TEST(ConfigDifference, LeavesOutWhatItIsTold) {
  EXPECT_EQ(between("{name: a, names: b, study: {x: 1}}", "{name: b, names: c, study: {x: 2}}",
                    {"name", "study"}),
            (Differences{{"names", "b", "c"}}));
}

}  // namespace
}  // namespace inferscale
