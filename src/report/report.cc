#include "report/report.h"

#include "base/edge/output_file.h"
#include "report/page.h"
#include "report/page_assets.h"
#include "report/page_data.h"
#include "report/run_folder_reader.h"

namespace inferscale {

Result<std::string> render_report(const std::string& run_folder) {
  const Result<RunFolder> run = read_run_folder(run_folder);
  if (!run) return std::unexpected(run.error());
  return assemble_page({.style = {}, .script = kRunScript, .data_json = page_data_json(*run)});
}

Result<void> write_report(const std::string& run_folder, const std::string& out_path) {
  const Result<std::string> page = render_report(run_folder);
  if (!page) return std::unexpected(page.error());
  return write_file(out_path, *page);
}

}  // namespace inferscale
