// The result of a paired comparison for people (docs/commands/ab.md): the verdict, what was
// compared, each metric's verdict, the differences with their intervals, what to know beside them.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// `result_json` is what result.json holds.
Result<std::string> ab_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
