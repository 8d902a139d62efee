// The result of a validation for a terminal.

#pragma once

#include <string>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// First for which figures and loads predictions can be relied on; then errors by metric and regime,
// by hardware and by model, how predictions spread about what was measured, the worst cases, and
// what was not compared. Of ten cases or fewer every figure is shown instead of what is worst, and
// statistics of two cases or more only.
Result<std::string> validate_text(const std::string& result_json, PlotGlyphs glyphs);

}  // namespace inferscale
