// The texts for people of all kinds of studies.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/text/sparkline.h"

namespace inferscale {

// A study's result as text; `result_json` is what result.json holds. Errors: an unknown kind, a
// result that is not of that kind.
Result<std::string> study_text(std::string_view kind, const std::string& result_json,
                               PlotGlyphs glyphs);

}  // namespace inferscale
