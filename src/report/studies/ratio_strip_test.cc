#include "report/studies/ratio_strip.h"

#include <gtest/gtest.h>

#include <vector>

namespace inferscale {
namespace {

std::string strip(const std::vector<double>& ratios) {
  return ratio_strip(ratios, PlotGlyphs::kAscii);
}

// 33 cells: a quarter is the first, a half the 9th, one the 17th, two the 25th, four the last.
TEST(RatioStrip, StandsAboveItsAxis) {
  for (const auto& [ratio, label] : std::vector<std::pair<double, const char*>>{
           {0.25, "1/4"}, {0.5, "1/2"}, {1, "1  "}, {2, "2"}, {4, "4"}}) {
    const std::string drawn = strip({ratio});
    ASSERT_EQ(drawn.size(), 33U);
    const std::size_t at = drawn.find('#');
    EXPECT_EQ(drawn.find_last_not_of(' '), at) << ratio;
    EXPECT_EQ(ratio_axis().substr(at, std::string(label).size()), label) << ratio;
  }
}

TEST(RatioStrip, RatiosBeyondTheEndsAreInTheEndCells) {
  const std::string drawn = strip({0.001, 100, 100});
  EXPECT_NE(drawn.front(), ' ');
  EXPECT_EQ(drawn.back(), '#');
}

TEST(RatioStrip, WithinFourPercentOfOneIsTheMiddle) {
  EXPECT_EQ(strip({0.96, 1, 1.04}), strip({1}));
  EXPECT_NE(strip({0.95}), strip({1}));
  EXPECT_NE(strip({1.05}), strip({1}));
}

}  // namespace
}  // namespace inferscale
