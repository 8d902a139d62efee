// Tables line up, and plots show what they are given.

#include "report/text/text_table.h"

#include <gtest/gtest.h>

#include "report/text/sparkline.h"

namespace inferscale {
namespace {

TEST(TextTable, AlignsTextLeftAndNumbersRight) {
  TextTable table({"name", ">count"});
  table.add({"a", "1"});
  table.add({"longer", "1234"});
  EXPECT_EQ(table.text(), "  name    count\n  a           1\n  longer   1234\n");
}

TEST(TextTable, CountsCodePointsNotBytes) {
  TextTable table({"x", "y"});
  table.add({"é", "1"});
  table.add({"ab", "2"});
  EXPECT_EQ(table.text(), "  x   y\n  é   1\n  ab  2\n");
}

TEST(TextTable, ShortNumbersKeepThreeDigits) {
  EXPECT_EQ(short_number(0.01234), "0.0123");
  EXPECT_EQ(short_number(4.567), "4.57");
  EXPECT_EQ(short_number(45.67), "45.7");
  EXPECT_EQ(short_number(12345.6), "12346");
  EXPECT_EQ(short_number(0), "0");
}

TEST(Sparkline, DrawsMeansOfItsCellsAndNeverHidesASmallValue) {
  const std::vector<double> values = {0, 0, 8, 8, 4, 4, 0.01, 0.01};
  EXPECT_EQ(sparkline(values, 8, 4, PlotGlyphs::kUnicode), " █▄▁");
  EXPECT_EQ(sparkline(values, 8, 4, PlotGlyphs::kAscii), " #:.");
  EXPECT_EQ(sparkline({}, 8, 4, PlotGlyphs::kUnicode), "");
}

TEST(CdfPlot, EndsFullAtTheLargestValue) {
  const std::vector<double> values = {1, 10, 100, 1000};
  const std::string plot = cdf_plot(values, "ms", 4, 2, PlotGlyphs::kAscii);
  EXPECT_EQ(plot,
            "    100 %   :#\n"
            "     50 % :###\n"
            "          1.00 ms 31.6 1000 ms\n");
}

}  // namespace
}  // namespace inferscale
