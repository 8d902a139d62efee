// A plot of points and lines over two axes for a terminal, linear or logarithmic.
//
//   const std::array series = {
//       PlotSeries{.name = "target", .mark = PlotMark::kNone, .line = PlotLine::kStraight,
//                  .points = {{1, 0.99}, {100, 0.99}}},
//       PlotSeries{.name = "probed", .mark = PlotMark::kDisc, .points = probes}};
//   text += xy_plot(series, {.label = "requests/s", .scale = AxisScale::kLog},
//                   {.label = "goodput, %", .low = 0, .high = 100}, {.glyphs = glyphs});
//
// Series are drawn in their order: later ones cover earlier ones. A legend below names those that
// have a name. Axes span all points, unless an end is given: points beyond it are not drawn, and a
// line below the plot counts them. On a logarithmic axis the same goes for values that are not
// positive. Values that are not finite are not drawn.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/text/sparkline.h"

namespace inferscale {

enum class PlotMark : std::uint8_t { kNone, kDot, kDisc, kRing, kDiamond, kSquare, kCross, kPlus };

// How the points of a series are joined, in the order in which they are given.
enum class PlotLine : std::uint8_t { kNone, kStraight };

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::string label = {};  // written beside the mark where there is room
};

struct PlotSeries {
  std::string name = {};  // for the legend; empty: not in it
  PlotMark mark = PlotMark::kDisc;
  PlotLine line = PlotLine::kNone;
  std::vector<PlotPoint> points = {};
};

enum class AxisScale : std::uint8_t { kLinear, kLog };

struct PlotAxis {
  std::string label = {};
  AxisScale scale = AxisScale::kLinear;
  std::optional<double> low = {};  // nothing: the least of the points
  std::optional<double> high = {};
};

struct PlotFrame {
  int columns = 64;  // of the plot itself, without the numbers to its left
  int rows = 16;
  PlotGlyphs glyphs = PlotGlyphs::kUnicode;
};

// What marks look like in legends and tables beside the plot.
const char* mark_glyph(PlotMark mark, PlotGlyphs glyphs);

// Empty when there is no point to draw.
std::string xy_plot(std::span<const PlotSeries> series, const PlotAxis& x, const PlotAxis& y,
                    const PlotFrame& frame);

}  // namespace inferscale
