#include "study/agents/sweep_options.h"

#include <algorithm>
#include <string>

#include "base/number_text.h"

namespace inferscale {
namespace {

struct ListRule {
  std::string_view key;
  std::vector<std::optional<double>> fallback;  // empty: the list may be left out
  bool above_zero = false;
  bool takes_null = false;
  std::string_view doc;
};

std::string list_text(const std::vector<std::optional<double>>& values) {
  std::string text;
  for (const std::optional<double>& value : values) {
    text += (text.empty() ? "" : ", ") + (value ? number_text(*value) : std::string("null"));
  }
  return "[" + text + "]";
}

// Nothing first of all when `item` is no such value; else the value, which may be null.
std::optional<std::optional<double>> value_of(const ConfigNode& item, const ListRule& rule) {
  constexpr double kMost = 1e9;
  if (item.is_null() && rule.takes_null) return std::optional<double>();
  if (item.kind() != ConfigNode::Kind::kScalar || item.quoted()) return std::nullopt;
  const std::optional<double> value = parse_finite(item.text());
  if (!value || *value < 0 || *value > kMost || (rule.above_zero && *value == 0)) {
    return std::nullopt;
  }
  return value;
}

// Null, which stands for without end, comes last.
bool comes_before(const std::optional<double>& a, const std::optional<double>& b) {
  return a && (!b || *a < *b);
}

std::vector<std::optional<double>> read_list(ConfigReader& agents, const ListRule& rule) {
  const std::string fallback = rule.fallback.empty() ? "null" : list_text(rule.fallback);
  const ConfigNode* list = agents.raw(rule.key, "list of numbers", rule.doc, fallback);
  if (list == nullptr) return rule.fallback;
  std::string expected = rule.above_zero ? "numbers above 0" : "numbers of at least 0";
  expected = "expected a list of " + expected + (rule.takes_null ? " or null" : "");
  if (list->kind() != ConfigNode::Kind::kList || list->items().empty()) {
    agents.fail(rule.key, expected);
    return rule.fallback;
  }
  std::vector<std::optional<double>> values;
  for (const ConfigNode& item : list->items()) {
    const auto value = value_of(item, rule);
    if (!value) {
      agents.fail(rule.key, expected + ", at most 1e9 each; " + item.describe() + " is not");
      return rule.fallback;
    }
    values.push_back(*value);
  }
  std::sort(values.begin(), values.end(), comes_before);
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) {
    agents.fail(rule.key, "expected each value once; " + list_text({*twice}) + " is there twice");
  }
  return values;
}

std::vector<double> read_numbers(ConfigReader& agents, const ListRule& rule) {
  std::vector<double> numbers;
  for (const std::optional<double>& value : read_list(agents, rule)) numbers.push_back(*value);
  return numbers;
}

}  // namespace

AgentSweepOptions read_agent_sweep_options(ConfigReader& study) {
  ConfigReader agents = study.map("agents", "the sweeps over agent sessions");
  AgentSweepOptions options;
  if (agents.has("repeats")) {
    agents.fail("repeats", "no key of the sweeps: expected at the top level (--set repeats=3)");
  }
  options.tolerance = agents.number(
      "tolerance", {.fallback = options.tolerance,
                    .min = 0,
                    .max = 10,
                    .unit = "fraction",
                    .doc = "a p95 turn TTFT that is above the best by at most this fraction is as "
                           "good: of such points the one that takes least is recommended"});
  options.ttl_s = read_list(
      agents,
      {.key = "ttl_s",
       .fallback = {0, 15, 60, 300, 900, 3600, std::nullopt},
       .takes_null = true,
       .doc = "ttl-sweep: the values of deployment.engine.retention.ttl_s; null: for ever"});
  options.affinity_slack_ms = read_numbers(
      agents, {.key = "affinity_slack_ms",
               .fallback = {0, 50, 100, 200, 500, 1000, 2000, 5000, 1e6},
               .doc = "affinity-sweep: the slacks of bounded_affinity, beside least_load and "
                      "session_affinity"});
  options.memory_budgets = read_numbers(
      agents, {.key = "memory_budgets",
               .fallback = {0.1, 0.25, 0.5, 0.75, 1, 1.25},
               .above_zero = true,
               .doc = "memory-stress: KV caches as multiples of the peak that a replica reaches "
                      "when nothing is evicted"});
  options.host_bandwidth_gb_s =
      read_numbers(agents, {.key = "host_bandwidth_gb_s",
                            .fallback = {2, 5, 10, 25, 50, 100},
                            .above_zero = true,
                            .doc = "host-sweep: bandwidths between HBM and host memory, beside "
                                   "the configured one"});
  options.host_capacity_gb =
      read_numbers(agents, {.key = "host_capacity_gb",
                            .doc = "host-sweep: sizes of a replica's host memory; null: the "
                                   "configured deployment.engine.retention.host.capacity_gb"});
  agents.finish();
  return options;
}

}  // namespace inferscale
