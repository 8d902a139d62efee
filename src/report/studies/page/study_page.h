// The page of a study: one self-contained HTML page made from a study folder and nothing else.

#pragma once

#include <string>

#include "base/result.h"

namespace inferscale {

// The page's text; the same folder gives the same bytes. Errors: what read_study_folder() refuses,
// a result that its kind's text can't be made from.
Result<std::string> render_study_report(const std::string& folder);

// The same, written to a file.
Result<void> write_study_report(const std::string& folder, const std::string& out_path);

}  // namespace inferscale
