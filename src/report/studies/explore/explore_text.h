// The result of a design study for people (docs/commands/explore.md): which candidates to take for
// what, the table of all, both frontiers as a plot, and what could not be simulated.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// `result_json` is what result.json holds.
Result<std::string> explore_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
