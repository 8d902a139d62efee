// The parts of the report pages, put into the program when it is built (cmake/EmbedText.cmake).

#pragma once

#include <string_view>

namespace inferscale {

extern const std::string_view kPageTemplate;  // web/common/page.html
extern const std::string_view kPageStyle;     // web/common/style/*.css
extern const std::string_view kCommonScript;  // web/common/script/*.js
extern const std::string_view kRunScript;     // web/report/script/*.js
extern const std::string_view kPlotStyle;     // the charting library, uPlot
extern const std::string_view kPlotScript;
extern const std::string_view kPlotLicense;

}  // namespace inferscale
