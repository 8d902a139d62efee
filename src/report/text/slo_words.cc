#include "report/text/slo_words.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "report/text/text_table.h"

namespace inferscale {

std::string target_text(const Slo& slo) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<Duration>& limit) {
    if (!limit) return;
    text +=
        fmt::format("{}{} <= {} ms", text.empty() ? "" : ", ", name, short_number(limit->millis()));
  };
  add("TTFT", slo.ttft);
  add(slo.itl_rule == ItlRule::kP95 ? "each request's p95 ITL" : "each request's longest ITL",
      slo.itl);
  add("E2E", slo.e2e);
  return text;
}

}  // namespace inferscale
