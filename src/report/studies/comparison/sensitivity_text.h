// The result of a sensitivity study for people (docs/commands/sensitivity.md): what changes and
// where, how the draws came out, what each scale does by itself.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// `result_json` is what result.json holds.
Result<std::string> sensitivity_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
