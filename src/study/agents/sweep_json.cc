#include "study/agents/sweep_json.h"

#include <algorithm>

#include "base/config_json.h"

namespace inferscale {
namespace {

JsonValue target(const std::optional<Duration>& limit) {
  return limit ? JsonValue::millis(*limit) : JsonValue();
}

JsonValue figures_json(const SweepRow& row) {
  JsonValue figures = JsonValue::object();
  for (const Metric metric : sweep_metrics()) {
    figures.add(std::string(info_of(metric).name), spread_json(row[metric]));
  }
  return figures;
}

// Of the first repetition: of memory-stress the others have budgets of their own.
JsonValue settings_json(const SweepPoint& point) {
  JsonValue settings = JsonValue::object();
  for (const Setting& setting : point.settings_of(0)) {
    settings.add(setting.key, JsonValue::raw(to_json_text(setting.value)));
  }
  return settings;
}

JsonValue cache_tokens_json(const SweepPoint& point) {
  if (point.cache_tokens.empty()) return {};
  JsonValue list = JsonValue::array();
  for (const double tokens : point.cache_tokens) list.append(tokens);
  return list;
}

JsonValue row_json(const SweepRow& row) {
  JsonValue json = JsonValue::object()
                       .add("name", row.point.name)
                       .add("strategy", row.point.strategy)
                       .add("value", row.point.value)
                       .add("capacity_gb", row.point.capacity_gb)
                       .add("cache_tokens", cache_tokens_json(row.point))
                       .add("is_choice", row.point.is_choice)
                       .add("settings", settings_json(row.point));
  if (!row.simulated()) return json.add("failure", row.failure);
  return json.add("failure", nullptr)
      .add("on_frontier", row.on_frontier)
      .add("sessions_incomplete", row.incomplete())
      .add("figures", figures_json(row));
}

JsonValue reference_json(const MemoryReference& reference) {
  JsonValue peaks = JsonValue::array();
  for (const double peak : reference.peaks) peaks.append(peak);
  return JsonValue::object()
      .add("peak_tokens", std::move(peaks))
      .add("configured_tokens", reference.configured_tokens)
      .add("unlimited", row_json(reference.row));
}

JsonValue crossovers_json(const std::vector<HostCrossover>& crossovers) {
  JsonValue list = JsonValue::array();
  for (const HostCrossover& one : crossovers) {
    list.append(JsonValue::object()
                    .add("capacity_gb", one.capacity_gb)
                    .add("beats_recompute_gb_s", one.beats_recompute_gb_s)
                    .add("beats_retain_gb_s", one.beats_retain_gb_s));
  }
  return list;
}

JsonValue answers_json(const std::vector<HostAnswer>& answers) {
  JsonValue list = JsonValue::array();
  for (const HostAnswer& one : answers) {
    list.append(JsonValue::object()
                    .add("capacity_gb", one.capacity_gb)
                    .add("bandwidth_gb_s", one.bandwidth_gb_s)
                    .add("strategy", one.strategy));
  }
  return list;
}

}  // namespace

JsonValue sweep_json(const SweepResult& sweep) {
  JsonValue points = JsonValue::array();
  for (const SweepRow& row : sweep.rows) points.append(row_json(row));
  JsonValue notes = JsonValue::array();
  for (const std::string& note : sweep.notes) notes.append(note);
  const std::optional<Metric> against = sweep_against(sweep.kind);
  const auto failed = std::count_if(sweep.rows.begin(), sweep.rows.end(),
                                    [](const SweepRow& row) { return !row.simulated(); });
  JsonValue json = JsonValue::object()
                       .add("kind", sweep_name(sweep.kind))
                       .add("simulated", true)
                       .add("name", sweep.name)
                       .add("slo", JsonValue::object()
                                       .add("ttft_ms", target(sweep.slo.ttft))
                                       .add("itl_ms", target(sweep.slo.itl))
                                       .add("e2e_ms", target(sweep.slo.e2e)))
                       .add("repeats", sweep.repeats)
                       .add("seed", sweep.seed)
                       .add("tolerance", sweep.tolerance)
                       .add("against", against ? JsonValue(info_of(*against).name) : JsonValue())
                       .add("points_simulated", std::ssize(sweep.rows) - failed)
                       .add("points_not_simulated", failed)
                       .add("least_ttft", sweep.least_ttft)
                       .add("recommended", sweep.recommended)
                       .add("within_slo", sweep.within_slo);
  if (sweep.reference) json.add("reference", reference_json(*sweep.reference));
  if (sweep.kind == SweepKind::kHost) {
    json.add("configured_bandwidth_gb_s", sweep.configured_bandwidth_gb_s)
        .add("crossovers", crossovers_json(sweep.crossovers))
        .add("answers", answers_json(sweep.answers));
  }
  return json.add("notes", std::move(notes)).add("points", std::move(points));
}

}  // namespace inferscale
