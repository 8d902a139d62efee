// What the pages of studies add to the parts of all pages (report/page_assets.h).

#pragma once

#include <string_view>

namespace inferscale {

extern const std::string_view kStudyStyle;   // web/study/style/*.css
extern const std::string_view kStudyScript;  // web/study/script/*.js

}  // namespace inferscale
