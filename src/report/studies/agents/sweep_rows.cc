#include "report/studies/agents/sweep_rows.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "report/studies/comparison_text.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

void read_figures(JsonFields& member, SweepRowFields& row) {
  const Json* figures = member.object("figures");
  if (figures == nullptr) return;
  for (const auto& [metric, spread] : figures->items()) {
    if (spread.is_null()) continue;
    if (!spread.is_object()) return member.fail("figures." + metric, "expected a map or null");
    JsonFields fields(spread, kResultPlace, "figures." + metric + ".");
    row.figures[metric + ".mean"] = fields.number("mean");
    const std::optional<double> sd = fields.optional_number("sd");
    if (sd) row.figures[metric + ".sd"] = *sd;
    if (fields.failed()) return member.fail("figures." + metric, fields.error().message);
  }
}

void read_cache_tokens(JsonFields& member, SweepRowFields& row) {
  if (member.is_null("cache_tokens")) return;
  const Json* list = member.list("cache_tokens");
  if (list == nullptr) return;
  for (const Json& tokens : *list) {
    if (!tokens.is_number()) return member.fail("cache_tokens", "expected numbers or null");
    row.cache_tokens.push_back(tokens.get<double>());
  }
}

}  // namespace

std::optional<double> SweepRowFields::figure(const std::string& figure_name) const {
  const auto found = figures.find(figure_name);
  return found == figures.end() ? std::nullopt : std::optional(found->second);
}

SweepRowFields read_sweep_row(JsonFields& member) {
  SweepRowFields row;
  row.name = member.text("name");
  row.strategy = member.text("strategy");
  row.value = member.optional_number("value");
  row.capacity_gb = member.optional_number("capacity_gb");
  row.is_choice = member.boolean("is_choice");
  read_cache_tokens(member, row);
  if (const Json* settings = member.object("settings"); settings != nullptr) {
    for (const auto& [key, value] : settings->items()) row.settings.emplace_back(key, value);
  }
  if (!member.is_null("failure")) {
    row.failure = member.text("failure");
    return row;
  }
  row.on_frontier = member.boolean("on_frontier");
  row.incomplete = member.optional_number("sessions_incomplete");
  read_figures(member, row);
  return row;
}

std::optional<double> mean_cache_tokens(const SweepRowFields& row) {
  if (row.cache_tokens.empty()) return std::nullopt;
  double sum = 0;
  for (const double tokens : row.cache_tokens) sum += tokens;
  return sum / static_cast<double>(row.cache_tokens.size());
}

std::string count_text(double count) {
  if (count == std::floor(count)) return number_text(count);
  return count >= 1000 ? number_text(std::floor(count + 0.5)) : short_number(count);
}

std::vector<SweepRowFields> read_sweep_rows(JsonFields& result) {
  std::vector<SweepRowFields> rows;
  each_member(result, "points",
              [&](JsonFields& member) { rows.push_back(read_sweep_row(member)); });
  return rows;
}

const SweepWords* sweep_words(const std::string& kind) {
  static const std::vector<SweepWords> kWords = {
      {"ttl_sweep", "the time to live of idle KV", "TTL", "kv_gb_mean", "KV in HBM, mean, GB"},
      {"affinity_sweep", "the slack for staying at a replica", "router", "history_hit_rate",
       "history found, %"},
      {"memory_stress", "the KV cache's size", "budget", "", "budget, x peak"},
      {"host_sweep", "what becomes of idle KV", "idle KV", "kv_gb_mean", "KV in HBM, mean, GB"}};
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const SweepWords& words) { return words.kind == kind; });
  return found == kWords.end() ? nullptr : &*found;
}

}  // namespace inferscale
