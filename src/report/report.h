// The report: one self-contained HTML page made from a run folder and nothing else.

#pragma once

#include <string>

#include "base/result.h"

namespace inferscale {

// The page's text. It holds its data, styles and scripts, charting library included, and fetches
// nothing; the same folder gives the same bytes. Errors: what read_run_folder() refuses.
Result<std::string> render_report(const std::string& run_folder);

// The same, written to a file.
Result<void> write_report(const std::string& run_folder, const std::string& out_path);

}  // namespace inferscale
