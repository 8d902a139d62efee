#include "report/studies/study_json.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(StudyJson, TakesAResultOfItsKindOnly) {
  EXPECT_TRUE(parse_study_result(R"({"kind":"ab"})", "ab"));
  const auto other = parse_study_result(R"({"kind":"ab"})", "capacity");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().to_string(), "result.json: kind 'ab': expected 'capacity'");
  EXPECT_FALSE(parse_study_result(R"({"kind":3})", "ab"));
  EXPECT_FALSE(parse_study_result("[]", "ab"));
  EXPECT_FALSE(parse_study_result("{", "ab"));
}

}  // namespace
}  // namespace inferscale
