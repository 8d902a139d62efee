#include "report/studies/agents/verdict_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/studies/comparison_text.h"
#include "report/studies/explore/explore_rows.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {

std::string part(const std::string& head, const std::string& text) {
  constexpr std::size_t kHeadWidth = 18;
  return wrapped(head + std::string(kHeadWidth - head.size(), ' '), text);
}

std::string ttft_text(const SweepRowFields& row) {
  const std::optional<double> ttft = row.mean(kTtftP95);
  if (!ttft) return "no first token";
  return milliseconds_text(*ttft) + (in_seconds(*ttft) ? "" : " ms");
}

std::string gigabytes(double gb) {
  return short_number(gb) + " GB";
}

std::string described(const SweepRowFields& row) {
  std::string text = "p95 turn TTFT " + ttft_text(row);
  if (const auto kv = row.mean(kKvMean)) {
    text += ", " + gigabytes(*kv) + " of KV in HBM on average";
  }
  if (const auto found = row.mean(kFound)) text += ", " + percent(*found) + " of the history found";
  return text;
}

std::string settings_line(const SweepRowFields& row) {
  std::vector<std::pair<std::string, Json>> settings = row.settings;
  for (auto& [key, value] : settings) {
    if (row.cache_tokens.size() < 2 || !key.ends_with("kv_cache_tokens")) continue;
    value = static_cast<std::int64_t>(*std::ranges::max_element(row.cache_tokens));
  }
  return std::string(18, ' ') + set_options(settings) + "\n";
}

const SweepRowFields* row_at(JsonFields& result, const char* key, const Rows& rows) {
  const std::optional<std::int64_t> index = result.optional_integer(key);
  if (!index) return nullptr;
  if (*index < std::ssize(rows) && rows[static_cast<std::size_t>(*index)].simulated()) {
    return &rows[static_cast<std::size_t>(*index)];
  }
  result.fail(key, "expected the index of a point that was simulated");
  return nullptr;
}

const SweepRowFields* first_of(const Rows& rows, const std::string& strategy) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const SweepRowFields& row) {
    return row.simulated() && row.strategy == strategy;
  });
  return found == rows.end() ? nullptr : &*found;
}

namespace {

std::string least_line(const SweepWords& words) {
  if (words.kind == "memory_stress") return "is the smallest";
  return words.kind == "affinity_sweep" ? "finds most history" : "keeps least KV in HBM";
}

}  // namespace

std::string within_slo_text(JsonFields& result, const SweepWords& words, const Rows& rows,
                            const SweepRowFields* chosen) {
  const SweepRowFields* within = row_at(result, "within_slo", rows);
  const Json* slo = result.object("slo");
  if (slo == nullptr) return {};
  JsonFields targets(*slo, kResultPlace, "slo.");
  const std::optional<double> ttft = targets.optional_number("ttft_ms");
  if (targets.failed()) result.fail("slo", targets.error().message);
  if (!ttft) return {};
  const std::string target = fmt::format("a p95 turn TTFT within {:.6g} ms", *ttft);
  const std::string one = words.kind == "host_sweep" ? "choice"
                          : words.against.empty()    ? "budget"
                                                     : "point";
  if (within == nullptr) return part("Within the SLO", "no " + one + " has " + target + ".");
  if (within == chosen) {
    return part("Within the SLO",
                "of the " + one + "s with " + target + " the same one " + least_line(words) + ".");
  }
  return part("Within the SLO", "of the " + one + "s with " + target + ", " + within->name + " " +
                                    least_line(words) + ": " + described(*within) + ".") +
         settings_line(*within);
}

}  // namespace inferscale
