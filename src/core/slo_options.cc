#include "core/slo_options.h"

namespace inferscale {
namespace {

constexpr double kLongestMs = 1e9;  // 11 days: longer is a wrong unit

std::optional<Duration> read_target(ConfigReader& slo, std::string_view key, std::string_view doc) {
  const auto ms = slo.optional_number(
      key, {.min = 0, .max = kLongestMs, .above_min = true, .unit = "ms", .doc = doc});
  return ms ? std::optional(Duration::from_millis(*ms)) : std::nullopt;
}

}  // namespace

Slo read_slo(ConfigReader& root) {
  ConfigReader reader =
      root.map("slo", "latency targets of each request; those left out are not judged");
  Slo slo;
  slo.ttft = read_target(reader, "ttft_ms", "longest time from arrival to the first token");
  slo.itl = read_target(reader, "itl_ms", "longest gap between two tokens, judged by itl_rule");
  slo.e2e = read_target(reader, "e2e_ms", "longest time from arrival to the last token");
  const std::string rule =
      reader.choice("itl_rule", {"p95", "max"}, "p95",
                    "which of a request's own gaps is held against itl_ms: their nearest-rank 95th "
                    "percentile, or the longest");
  slo.itl_rule = rule == "max" ? ItlRule::kMax : ItlRule::kP95;
  reader.finish();
  return slo;
}

}  // namespace inferscale
