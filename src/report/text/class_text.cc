#include "report/text/class_text.h"

#include <fmt/format.h>

#include "report/text/number_words.h"
#include "report/text/slo_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string share_or_dash(const std::optional<double>& share) {
  return share ? percent(*share) : "-";
}

}  // namespace

std::string class_text(std::span<const ClassFigures> classes, const std::string& of) {
  if (classes.empty()) return {};
  TextTable table({"class", ">priority", ">" + of, ">met", ">goodput", ">of admitted",
                   ">TTFT p95 ms", ">refused", ">deferred", "targets"});
  for (const ClassFigures& each : classes) {
    const std::string targets = target_text(each.slo);
    table.add({each.name, std::to_string(each.priority), std::to_string(each.counted),
               std::to_string(each.met), share_or_dash(each.goodput()),
               share_or_dash(each.attainment_admitted()),
               each.ttft_p95_ms ? short_number(*each.ttft_p95_ms) : "-",
               std::to_string(each.refused), std::to_string(each.deferred),
               targets.empty() ? "none" : targets});
  }
  return table.text();
}

}  // namespace inferscale
