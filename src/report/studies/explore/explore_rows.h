// The candidates of a design study as their result.json has them, in the order in which people
// should look at them.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/json_fields.h"

namespace inferscale {

struct ExploreRow {
  std::int64_t index = 0;  // in result.json
  std::string name;
  bool named = false;
  std::vector<std::pair<std::string, Json>> settings;
  std::string failure;  // empty: it was simulated, and what follows counts
  bool on_performance_frontier = false;
  bool on_efficiency_frontier = false;
  bool on_cost_frontier = false;
  std::int64_t saturated_runs = 0;
  // "goodput.mean" and "goodput.min" over the repetitions; absent figures are not in it.
  std::map<std::string, double> figures;

  bool simulated() const { return failure.empty(); }
  bool on_any_frontier() const {
    return on_performance_frontier || on_efficiency_frontier || on_cost_frontier;
  }
  std::optional<double> figure(const std::string& figure_name) const;
  std::optional<double> mean(const std::string& metric) const { return figure(metric + ".mean"); }
};

// In the order of result.json. Errors become `result`'s.
std::vector<ExploreRow> read_explore_rows(JsonFields& result);

// Whether candidates differ in a section of the configuration: "workload", "slo".
bool is_unlike(JsonFields& result, const std::string& section);

// The simulated ones: most goodput first, then least p95 TTFT.
std::vector<ExploreRow> by_goodput(const std::vector<ExploreRow>& rows);

// "84.7", and "5403 s" for what a backlog makes of it.
std::string milliseconds_text(double milliseconds);

// "2", and "1.50" for the mean of a fleet that changes.
std::string accelerators_text(double count);

// A value of a setting in a table or behind --set: text without quotation marks where it can stand
// so.
std::string setting_value(const Json& value);

// "--set deployment.replicas=2 --set ...", for a shell; "" for the configuration itself.
std::string set_options(const std::vector<std::pair<std::string, Json>>& settings);
std::string set_options(const ExploreRow& row);

}  // namespace inferscale
