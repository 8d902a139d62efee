// What a search for an admission policy's parameters found, as text: what to set, what it gains
// over each control, the figures at each load, and all that was tried.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// Errors: not the result of a `tune`.
Result<std::string> tune_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
