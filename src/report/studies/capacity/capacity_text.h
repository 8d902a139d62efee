// The result of a search for the capacity as people read it in a terminal: the verdict, what the
// two loads amount to, every load that was tried, and a plot of attainment against load.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

Result<std::string> capacity_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
