// The result of a sweep over agent sessions for people (docs/commands/agents_sweeps.md): what to
// set, the table of points, the frontier as a plot, what could not be simulated.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// `result_json` is what result.json holds, of any kind of sweep.
Result<std::string> sweep_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
