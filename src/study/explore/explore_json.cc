#include "study/explore/explore_json.h"

#include <algorithm>

#include "base/config_json.h"

namespace inferscale {
namespace {

JsonValue target(const std::optional<Duration>& limit) {
  return limit ? JsonValue::millis(*limit) : JsonValue();
}

JsonValue figures_json(const ExploredCandidate& candidate) {
  JsonValue figures = JsonValue::object();
  for (const Metric metric : explored_metrics()) {
    figures.add(std::string(info_of(metric).name), spread_json(candidate[metric]));
  }
  return figures;
}

JsonValue candidate_json(const ExploredCandidate& explored, std::size_t index) {
  JsonValue settings = JsonValue::object();
  for (const Setting& setting : explored.candidate.settings) {
    settings.add(setting.key, JsonValue::raw(to_json_text(setting.value)));
  }
  JsonValue value = JsonValue::object()
                        .add("index", index)
                        .add("name", explored.candidate.name)
                        .add("named", explored.candidate.named)
                        .add("settings", std::move(settings));
  if (!explored.simulated()) return value.add("failure", explored.failure);
  return value.add("failure", nullptr)
      .add("on_performance_frontier", explored.on_performance_frontier)
      .add("on_efficiency_frontier", explored.on_efficiency_frontier)
      .add("on_cost_frontier", explored.on_cost_frontier)
      .add("saturated_runs", explored.saturated)
      .add("undecided_runs", explored.undecided)
      .add("figures", figures_json(explored));
}

}  // namespace

JsonValue explore_json(const ExploreResult& result) {
  JsonValue keys = JsonValue::array();
  JsonValue labels = JsonValue::array();
  for (const std::string& label : short_keys(result.keys)) labels.append(label);
  JsonValue configured = JsonValue::object();
  for (std::size_t i = 0; i < result.keys.size(); ++i) {
    keys.append(result.keys[i]);
    configured.add(result.keys[i], JsonValue::raw(result.as_configured[i]));
  }
  JsonValue candidates = JsonValue::array();
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    candidates.append(candidate_json(result.candidates[i], i));
  }
  JsonValue unlike = JsonValue::array();
  for (const std::string& section : result.unlike) unlike.append(section);
  JsonValue notes = JsonValue::array();
  for (const std::string& note : result.notes) notes.append(note);
  const auto failed = std::count_if(result.candidates.begin(), result.candidates.end(),
                                    [](const auto& one) { return !one.simulated(); });
  return JsonValue::object()
      .add("kind", "explore")
      .add("simulated", true)
      .add("name", result.name)
      .add("slo", JsonValue::object()
                      .add("ttft_ms", target(result.slo.ttft))
                      .add("itl_ms", target(result.slo.itl))
                      .add("e2e_ms", target(result.slo.e2e)))
      .add("attainment", result.attainment)
      .add("repeats", result.repeats)
      .add("seed", result.seed)
      .add("bounded_grid", result.bounded_grid)
      .add("candidates_simulated", std::ssize(result.candidates) - failed)
      .add("candidates_not_simulated", failed)
      .add("most_goodput", result.most_goodput)
      .add("least_ttft", result.least_ttft)
      .add("cheapest", result.cheapest)
      .add("cheapest_by", std::string(info_of(result.cheapest_by).name))
      .add("keys", std::move(keys))
      .add("short_keys", std::move(labels))
      .add("as_configured", std::move(configured))
      .add("unlike", std::move(unlike))
      .add("notes", std::move(notes))
      .add("candidates", std::move(candidates));
}

}  // namespace inferscale
