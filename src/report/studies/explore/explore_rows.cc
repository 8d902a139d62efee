#include "report/studies/explore/explore_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include "base/number_text.h"
#include "report/studies/comparison_text.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether text stays text, and the same, without quotation marks: in YAML and in a shell.
bool can_stand_bare(const std::string& text) {
  static constexpr std::array<std::string_view, 8> kWords = {"true", "false", "null", "yes",
                                                             "no",   "on",    "off",  "nan"};
  if (text.empty() || !is_letter(text[0])) return false;
  std::string lower = text;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || std::string_view("_-./").find(c) < 4;
  });
}

std::string shell_word(const std::string& text) {
  static constexpr std::string_view kSafe = "_-./=,:";
  const bool safe = std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || kSafe.find(c) != std::string_view::npos;
  });
  if (safe) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void read_figures(JsonFields& member, ExploreRow& row) {
  const Json* figures = member.object("figures");
  if (figures == nullptr) return;
  for (const auto& [metric, spread] : figures->items()) {
    if (spread.is_null()) continue;
    if (!spread.is_object()) return member.fail("figures." + metric, "expected a map or null");
    JsonFields fields(spread, kResultPlace, "figures." + metric + ".");
    for (const char* statistic : {"mean", "min"}) {
      row.figures[metric + "." + statistic] = fields.number(statistic);
    }
    if (fields.failed()) return member.fail("figures." + metric, fields.error().message);
  }
}

ExploreRow read_row(JsonFields& member) {
  ExploreRow row;
  row.index = member.integer("index");
  row.name = member.text("name");
  row.named = member.boolean("named");
  if (const Json* settings = member.object("settings"); settings != nullptr) {
    for (const auto& [key, value] : settings->items()) row.settings.emplace_back(key, value);
  }
  if (!member.is_null("failure")) {
    row.failure = member.text("failure");
    return row;
  }
  row.on_performance_frontier = member.boolean("on_performance_frontier");
  row.on_efficiency_frontier = member.boolean("on_efficiency_frontier");
  row.on_cost_frontier = member.boolean("on_cost_frontier");
  row.saturated_runs = member.integer("saturated_runs");
  read_figures(member, row);
  return row;
}

}  // namespace

std::optional<double> ExploreRow::figure(const std::string& figure_name) const {
  const auto found = figures.find(figure_name);
  return found == figures.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ExploreRow> read_explore_rows(JsonFields& result) {
  std::vector<ExploreRow> rows;
  each_member(result, "candidates", [&](JsonFields& member) { rows.push_back(read_row(member)); });
  return rows;
}

bool is_unlike(JsonFields& result, const std::string& section) {
  const Json* unlike = result.list("unlike");
  if (unlike == nullptr) return false;
  bool found = false;
  for (const Json& one : *unlike) {
    if (!one.is_string()) result.fail("unlike", "expected texts");
    found |= one == section;
  }
  return found;
}

std::vector<ExploreRow> by_goodput(const std::vector<ExploreRow>& rows) {
  std::vector<ExploreRow> sorted;
  for (const ExploreRow& row : rows) {
    if (row.simulated()) sorted.push_back(row);
  }
  const auto rank = [](const ExploreRow& row) {
    const std::optional<double> ttft = row.mean("ttft_ms_p95");
    return std::tuple(-row.mean("goodput_rps").value_or(-1), !ttft, ttft.value_or(0), row.index);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const ExploreRow& a, const ExploreRow& b) { return rank(a) < rank(b); });
  return sorted;
}

std::string milliseconds_text(double milliseconds) {
  return in_seconds(milliseconds) ? short_number(1e-3 * milliseconds) + " s"
                                  : short_number(milliseconds);
}

std::string accelerators_text(double count) {
  return count == std::floor(count) ? number_text(count) : short_number(count);
}

std::string setting_value(const Json& value) {
  if (value.is_string() && can_stand_bare(value.get<std::string>())) {
    return value.get<std::string>();
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string set_options(const std::vector<std::pair<std::string, Json>>& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    text += (text.empty() ? "" : " ") + ("--set " + shell_word(key + "=" + setting_value(value)));
  }
  return text;
}

std::string set_options(const ExploreRow& row) {
  return set_options(row.settings);
}

}  // namespace inferscale
