// Plots against pictures drawn by hand.

#include "report/text/xy_plot.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr PlotFrame kSmall = {.columns = 21, .rows = 5, .glyphs = PlotGlyphs::kAscii};

TEST(XyPlot, PutsPointsWhereTheyBelong) {
  const std::array series = {
      PlotSeries{.name = "runs", .points = {{0, 0}, {10, 2}, {20, 4, "B"}, {5, 4, "A"}}}};
  EXPECT_EQ(xy_plot(series, {.label = "rate"}, {.label = "share"}, kSmall),
            "  share\n"
            "    4.00 +     oA            Bo\n"
            "         |\n"
            "    2.00 +          o\n"
            "         |\n"
            "       0 +o\n"
            "         ++---------+---------+\n"
            "          0       10.0      20.0\n"
            "                           rate\n"
            "          o runs\n");
}

TEST(XyPlot, ALineIsCutAtTheAxes) {
  const std::array series = {PlotSeries{.name = "all",
                                        .mark = PlotMark::kNone,
                                        .line = PlotLine::kStraight,
                                        .points = {{-20, -4}, {40, 8}}}};
  EXPECT_EQ(xy_plot(series, {.low = 0, .high = 20}, {.low = 0, .high = 4}, kSmall),
            "    4.00 +                  ...\n"
            "         |             .....\n"
            "    2.00 +        .....\n"
            "         |   .....\n"
            "       0 +...\n"
            "         ++---------+---------+\n"
            "          0       10.0      20.0\n"
            "          . all\n");
}

TEST(XyPlot, LogarithmicDecadesAreEquallyFar) {
  const std::array series = {PlotSeries{.points = {{1, 1}, {10, 2}, {100, 3}}}};
  EXPECT_EQ(xy_plot(series, {.scale = AxisScale::kLog}, {},
                    {.columns = 21, .rows = 3, .glyphs = PlotGlyphs::kAscii}),
            "    3.00 +                    o\n"
            "    2.00 +          o\n"
            "    1.00 +o\n"
            "         ++---------+---------+\n"
            "        1.00      10.0       100\n");
}

TEST(XyPlot, LaterSeriesCoverEarlierOnesAndMarksCoverLines) {
  const std::array series = {
      PlotSeries{.mark = PlotMark::kDisc, .points = {{0, 0}, {1, 1}}},
      PlotSeries{.mark = PlotMark::kCross, .points = {{1, 1}}},
      PlotSeries{.mark = PlotMark::kNone, .line = PlotLine::kStraight, .points = {{0, 1}, {1, 1}}}};
  const std::string text =
      xy_plot(series, {}, {}, {.columns = 5, .rows = 2, .glyphs = PlotGlyphs::kUnicode});
  EXPECT_NE(text.find("┤····×\n"), std::string::npos) << text;
  EXPECT_NE(text.find("┤●\n"), std::string::npos) << text;
}

TEST(XyPlot, CountsWhatItCannotShow) {
  const std::array series = {PlotSeries{
      .points = {{0, 1}, {1, 1}, {10, 1}, {std::numeric_limits<double>::quiet_NaN(), 1}}}};
  const std::string text = xy_plot(series, {.scale = AxisScale::kLog}, {}, kSmall);
  EXPECT_NE(text.find("2 points are outside of the plot"), std::string::npos) << text;
  const std::string narrow = xy_plot(series, {.low = 0.5, .high = 2}, {}, kSmall);
  EXPECT_NE(narrow.find("3 points are outside of the plot"), std::string::npos) << narrow;
}

TEST(XyPlot, NothingToDrawIsNothing) {
  EXPECT_EQ(xy_plot({}, {}, {}, kSmall), "");
  const std::array below = {PlotSeries{.points = {{-1, 1}}}};
  EXPECT_EQ(xy_plot(below, {.scale = AxisScale::kLog}, {}, kSmall), "");
}

TEST(XyPlot, OnePointAloneAndExtremesAreDrawn) {
  for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLog}) {
    for (const double value : {1.0, 7.3, 1e-300, 1e300, 5e9}) {
      const std::array series = {PlotSeries{.points = {{value, value}}}};
      const std::string text = xy_plot(series, {.scale = scale}, {.scale = scale}, kSmall);
      EXPECT_NE(text.find('o'), std::string::npos) << value << "\n" << text;
    }
    const std::array wide = {PlotSeries{.points = {{1e-290, 1e-290}, {1e290, 1e290}}}};
    const std::string text = xy_plot(wide, {.scale = scale}, {.scale = scale}, kSmall);
    EXPECT_NE(text.find('o'), std::string::npos) << text;
  }
}

TEST(XyPlot, EndsThatAreHardlyApartAreDrawn) {
  const std::array series = {PlotSeries{.points = {{1e16, 1}, {1e16 + 2, 2}}}};
  EXPECT_NE(xy_plot(series, {}, {}, kSmall).find('o'), std::string::npos);
}

TEST(XyPlot, EveryLineFitsTheFrame) {
  const std::array series = {
      PlotSeries{.points = {{1, 1, "one"}, {99999, 5, "long label"}, {300, 3, "mid"}}}};
  const std::string text = xy_plot(series, {.scale = AxisScale::kLog}, {}, {});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(display_width(text.substr(at, end - at)), 10u + 64u + 4u) << text;
    at = end + 1;
  }
}

}  // namespace
}  // namespace inferscale
