// How ratios spread about 1, on one line of a terminal.

#pragma once

#include <span>
#include <string>

#include "report/text/sparkline.h"

namespace inferscale {

// Cells of equal width on a logarithmic axis from a quarter to four times; a ratio beyond an end is
// counted in the cell there. The middle cell is about 1.
std::string ratio_strip(std::span<const double> ratios, PlotGlyphs glyphs);

// The axis below such strips, as wide as they are.
std::string ratio_axis();

}  // namespace inferscale
