// Numbers are taken whole or not at all, and written so that they read back the same.

#include "base/number_text.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(NumberText, TakesDecimalNotationOnly) {
  EXPECT_EQ(parse_finite("1.5e3"), 1500.0);
  EXPECT_EQ(parse_finite("+2"), 2.0);
  EXPECT_EQ(parse_finite("-0.25"), -0.25);
  for (const char* text :
       {"", "+", "e5", "nan", "inf", "1e999", "0x1p3", "1,5", " 1", "1 ", "--1"}) {
    EXPECT_EQ(parse_finite(text), std::nullopt) << text;
  }
}

TEST(NumberText, WholeNumbersStayExactBeyondDoubles) {
  EXPECT_EQ(parse_whole("9007199254740993"), 9007199254740993);
  EXPECT_EQ(parse_whole("1e6"), 1000000);
  EXPECT_EQ(parse_whole("1e300"), std::nullopt);
  EXPECT_EQ(parse_whole("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_whole("1.5"), std::nullopt);
}

TEST(NumberText, WritesTheShortestThatReadsBack) {
  for (double value : {0.1, 16.0, 1e30, 1.0 / 3.0, -2.5}) {
    EXPECT_EQ(parse_finite(number_text(value)), value);
  }
  EXPECT_EQ(number_text(0.1), "0.1");
}

}  // namespace
}  // namespace inferscale
