// Small plots for a terminal: a series as a row of blocks, a distribution as a cumulative curve.

#pragma once

#include <span>
#include <string>

namespace inferscale {

enum class PlotGlyphs { kUnicode, kAscii };

// `values` in `columns` cells from left to right, each cell the mean of its share of the values,
// drawn against 0 at the bottom and `top` at the top. Empty when there are no values.
std::string sparkline(std::span<const double> values, double top, int columns, PlotGlyphs glyphs);

// The cumulative distribution of sorted positive values over a logarithmic axis, `rows` lines high,
// with the axis below: each column shows the share of values at or below its place.
std::string cdf_plot(std::span<const double> sorted, const std::string& unit, int columns, int rows,
                     PlotGlyphs glyphs);

}  // namespace inferscale
