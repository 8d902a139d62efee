#include "report/report.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/edge/output_file.h"
#include "report/page_assets.h"
#include "report/page_data.h"
#include "report/run_folder_reader.h"

namespace inferscale {
namespace {

using Part = std::pair<std::string_view, std::string_view>;

// Puts each part where the template says {{name}}. What was put in is not looked at again, so no
// part can be mistaken for the template's own text.
template <std::size_t kCount>
std::string filled(std::string_view page, const std::array<Part, kCount>& parts) {
  std::string out;
  std::size_t done = 0;
  for (const auto& [name, text] : parts) {
    const std::string marker = "{{" + std::string(name) + "}}";
    const std::size_t at = page.find(marker, done);
    CHECK(at != std::string_view::npos) << "the page has no " << marker << " in its order";
    out += page.substr(done, at - done);
    out += text;
    done = at + marker.size();
  }
  return out += page.substr(done);
}

}  // namespace

Result<std::string> render_report(const std::string& run_folder) {
  const Result<RunFolder> run = read_run_folder(run_folder);
  if (!run) return std::unexpected(run.error());
  const std::string data = page_data_json(*run);
  return filled<6>(kPageTemplate, {Part{"plot_style", kPlotStyle}, Part{"style", kPageStyle},
                                   Part{"data", data}, Part{"plot_license", kPlotLicense},
                                   Part{"plot_script", kPlotScript}, Part{"script", kPageScript}});
}

Result<void> write_report(const std::string& run_folder, const std::string& out_path) {
  const Result<std::string> page = render_report(run_folder);
  if (!page) return std::unexpected(page.error());
  return write_file(out_path, *page);
}

}  // namespace inferscale
