#include "report/summary_json.h"

#include <optional>

#include "core/duration_histogram.h"
#include "core/outcome.h"

namespace inferscale {
namespace {

JsonValue population_json(const PopulationSummary& population) {
  const auto figure = [&](double value) {
    return population.count == 0 ? JsonValue() : JsonValue(value);
  };
  return JsonValue::object()
      .add("count", population.count)
      .add("mean", figure(population.mean))
      .add("p50", figure(population.p50))
      .add("p90", figure(population.p90))
      .add("p95", figure(population.p95))
      .add("p99", figure(population.p99))
      .add("max", figure(population.max));
}

JsonValue requests_json(const RunSummary& summary) {
  const auto reason = [](RefusalReason value) { return std::string(reason_name(value)); };
  return JsonValue::object()
      .add("arrived", summary.arrived)
      .add("finished", summary.finished)
      .add("refused", summary.refused)
      .add("unfinished", summary.unfinished)
      .add("refused_by_reason",
           JsonValue::object()
               .add(reason(RefusalReason::kExceedsKvCache), summary.refused_kv)
               .add(reason(RefusalReason::kExceedsModelLen), summary.refused_model_len)
               .add(reason(RefusalReason::kQueueFull), summary.refused_queue_full));
}

JsonValue throughput_json(const RunSummary& summary) {
  return JsonValue::object()
      .add("offered_rps", summary.offered_rps)
      .add("finished_rps", summary.finished_rps)
      .add("output_tokens_per_s", summary.output_tokens_per_s)
      .add("total_tokens_per_s", summary.total_tokens_per_s)
      .add("prompt_tokens", summary.prompt_tokens)
      .add("output_tokens", summary.output_tokens);
}

JsonValue slo_json(const RunSummary& summary, const Slo& slo) {
  if (!slo.any()) return {};
  const auto target = [](std::optional<Duration> limit) {
    return limit ? JsonValue::millis(*limit) : JsonValue();
  };
  const auto met = [](std::optional<Duration> limit, std::int64_t count) {
    return limit ? JsonValue(count) : JsonValue();
  };
  return JsonValue::object()
      .add("ttft_ms", target(slo.ttft))
      .add("itl_ms", target(slo.itl))
      .add("e2e_ms", target(slo.e2e))
      .add("itl_rule", slo.itl_rule == ItlRule::kMax ? "max" : "p95")
      .add("met", summary.slo_met)
      .add("ttft_met", met(slo.ttft, summary.ttft_met))
      .add("itl_met", met(slo.itl, summary.itl_met))
      .add("e2e_met", met(slo.e2e, summary.e2e_met))
      .add("goodput", summary.arrived == 0 ? JsonValue() : JsonValue(summary.goodput))
      .add("goodput_rps", summary.goodput_rps)
      .add("attainment_admitted", summary.arrived == summary.refused
                                      ? JsonValue()
                                      : JsonValue(summary.attainment_admitted));
}

}  // namespace

JsonValue summary_json(const RunSummary& summary, const Slo& slo) {
  JsonValue itl = population_json(summary.itl_ms);
  itl.add("relative_error", DurationHistogram::kRelativeError);
  return JsonValue::object()
      .add("requests", requests_json(summary))
      .add("duration_s", summary.duration_s)
      .add("arrival_window_s", summary.arrival_window_s)
      .add("drain_s", summary.drain_s)
      .add("throughput", throughput_json(summary))
      .add("slo", slo_json(summary, slo))
      .add("ttft_ms", population_json(summary.ttft_ms))
      .add("tpot_ms", population_json(summary.tpot_ms))
      .add("itl_ms", std::move(itl))
      .add("e2e_ms", population_json(summary.e2e_ms))
      .add("queue_ms", population_json(summary.queue_ms))
      .add("itl_ms_max", population_json(summary.itl_ms_max))
      .add("kv", JsonValue::object()
                     .add("used_fraction_mean", summary.kv_used_mean)
                     .add("used_fraction_peak", summary.kv_used_peak))
      .add("batch", JsonValue::object()
                        .add("running_mean", summary.running_mean)
                        .add("running_peak", summary.running_peak))
      .add("queue", JsonValue::object().add("depth_peak", summary.queue_peak))
      .add("utilisation", summary.utilisation)
      .add("preemptions", summary.preemptions)
      .add("recomputed_tokens", summary.recomputed_tokens)
      .add("accelerator_hours", summary.accelerator_hours)
      .add("accelerator_hours_per_million_output_tokens",
           summary.accelerator_hours_per_million_output_tokens);
}

}  // namespace inferscale
