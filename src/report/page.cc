#include "report/page.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "report/page_assets.h"

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

std::string assemble_page(const PageParts& parts) {
  CHECK(parts.data_json.find('<') == std::string::npos) << "data that could end its element";
  const std::string style = std::string(kPageStyle) + std::string(parts.style);
  const std::string script = std::string(kCommonScript) + std::string(parts.script);
  return filled<6>(kPageTemplate,
                   {Part{"plot_style", kPlotStyle}, Part{"style", style},
                    Part{"data", parts.data_json}, Part{"plot_license", kPlotLicense},
                    Part{"plot_script", kPlotScript}, Part{"script", script}});
}

std::string without_less_than(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    // Outside strings JSON has no '<', inside them this is the same character.
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace inferscale
