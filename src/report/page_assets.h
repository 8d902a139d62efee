// The parts of the report page, put into the program when it is built (cmake/EmbedText.cmake).

#pragma once

#include <string_view>

namespace inferscale {

extern const std::string_view kPageTemplate;  // web/report/page.html
extern const std::string_view kPageStyle;     // web/report/style/*.css
extern const std::string_view kPageScript;    // web/report/script/*.js
extern const std::string_view kPlotStyle;     // the charting library, uPlot
extern const std::string_view kPlotScript;
extern const std::string_view kPlotLicense;

}  // namespace inferscale
