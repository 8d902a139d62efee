#include "report/studies/explore/explore_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/studies/comparison_text.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostFrontierRows = 60;  // that may follow these

struct Column {
  const char* title;
  const char* figure;
  std::string (*text)(double value);
};

constexpr const char* kRefused = "refused.mean";

constexpr Column kFigures[] = {{">goodput/s", "goodput_rps.mean", short_number},
                               {">met SLO", "goodput.mean", percent},
                               {">worst", "goodput.min", percent},
                               {">TTFT p95 ms", "ttft_ms_p95.mean", milliseconds_text},
                               {">ITL p95 ms", "itl_ms_p95.mean", milliseconds_text},
                               {">E2E p95 ms", "e2e_ms_p95.mean", milliseconds_text},
                               {">refused", kRefused, short_number},
                               {">accel.", "accelerators_mean.mean", accelerators_text},
                               {">per accel.", "goodput_rps_per_accelerator.mean", short_number},
                               {">cost/h", "cost_per_hour.mean", short_number},
                               {">good/cost", "good_requests_per_cost.mean", short_number}};

bool any_refused(const std::vector<ExploreRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ExploreRow& row) { return row.figure(kRefused).value_or(0) > 0; });
}

// Those that somebody has; of refusals, where there are any.
std::vector<Column> columns_of(const std::vector<ExploreRow>& rows) {
  std::vector<Column> columns;
  for (const Column& column : kFigures) {
    const bool any = std::any_of(rows.begin(), rows.end(), [&](const ExploreRow& row) {
      return row.figure(column.figure).has_value();
    });
    const bool shown = std::string_view(column.figure) != kRefused || any_refused(rows);
    if (any && shown) columns.push_back(column);
  }
  return columns;
}

// What tells candidates apart: a name where somebody gave one, else the values of the keys that
// differ.
class Identity {
 public:
  Identity(JsonFields& result, const std::vector<ExploreRow>& rows) {
    named_ = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.named; });
    keys_ = texts(result, "keys");
    titles_ = texts(result, "short_keys");
    const Json* configured = result.object("as_configured");
    if (configured != nullptr) configured_ = *configured;
    if (titles_.size() != keys_.size()) result.fail("short_keys", "expected one for each key");
  }

  std::vector<std::string> titles() const {
    return named_ ? std::vector<std::string>{"candidate"} : titles_;
  }

  std::vector<std::string> cells(const ExploreRow& row) const {
    if (named_) return {row.name};
    std::vector<std::string> values;
    for (const std::string& key : keys_) {
      const auto set = std::find_if(row.settings.begin(), row.settings.end(),
                                    [&](const auto& setting) { return setting.first == key; });
      const Json* value = set != row.settings.end() ? &set->second : configured(key);
      values.push_back(value == nullptr ? "-" : setting_value(*value));
    }
    return values;
  }

 private:
  static std::vector<std::string> texts(JsonFields& result, const char* key) {
    std::vector<std::string> found;
    const Json* list = result.list(key);
    if (list == nullptr) return found;
    for (const Json& item : *list) {
      if (!item.is_string()) {
        result.fail(key, "expected texts");
        break;
      }
      found.push_back(item.get<std::string>());
    }
    return found;
  }

  const Json* configured(const std::string& key) const {
    const auto found = configured_.find(key);
    return found == configured_.end() ? nullptr : &*found;
  }

  bool named_ = false;
  std::vector<std::string> keys_;
  std::vector<std::string> titles_;
  Json configured_;
};

std::string marks_of(const ExploreRow& row) {
  std::string marks;
  marks += row.on_performance_frontier ? "P" : "";
  marks += row.on_efficiency_frontier ? "E" : "";
  marks += row.on_cost_frontier ? "C" : "";
  return marks;
}

std::string legend(const std::vector<ExploreRow>& rows) {
  const auto any = [&](auto flag) { return std::any_of(rows.begin(), rows.end(), flag); };
  std::string text =
      "P: on the performance frontier (no other candidate has at least this goodput and no greater "
      "TTFT p95, one of the two strictly better); E: on the efficiency frontier (the same with "
      "goodput per accelerator)";
  if (any([](const ExploreRow& row) { return row.on_cost_frontier; })) {
    text += "; C: on the cost frontier (with good requests per cost)";
  }
  text += ". worst: the repetition in which the fewest met the SLO.";
  if (any_refused(rows)) {
    text += " refused: requests a run; TTFT, ITL and E2E are of those that were taken.";
  }
  if (any([](const ExploreRow& row) { return row.saturated_runs > 0; })) {
    text +=
        " saturated: the backlog grows, and the longer the run, the worse its figures would be.";
  }
  return wrapped("  ", text);
}

}  // namespace

std::string explore_table(JsonFields& result, const std::vector<ExploreRow>& sorted) {
  const Identity identity(result, sorted);
  const std::vector<Column> columns = columns_of(sorted);
  std::vector<std::string> titles = {">#", "on"};
  for (const std::string& title : identity.titles()) titles.push_back(title);
  for (const Column& column : columns) titles.emplace_back(column.title);
  titles.emplace_back();
  TextTable table(titles);
  std::size_t left_out = 0;
  std::size_t more = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const ExploreRow& row = sorted[i];
    if (i >= kMostRows && (!row.on_any_frontier() || more == kMostFrontierRows)) {
      ++left_out;
      continue;
    }
    if (i >= kMostRows) ++more;
    std::vector<std::string> cells = {std::to_string(i + 1), marks_of(row)};
    for (std::string& value : identity.cells(row)) cells.push_back(std::move(value));
    for (const Column& column : columns) {
      const std::optional<double> value = row.figure(column.figure);
      cells.push_back(value ? column.text(*value) : "-");
    }
    cells.emplace_back(row.saturated_runs > 0 ? "saturated" : "");
    table.add(std::move(cells));
  }
  std::string text = table.text();
  if (left_out > 0) {
    text += fmt::format("  and {} more (result.json has all)\n", left_out);
  }
  return text + legend(sorted);
}

}  // namespace inferscale
