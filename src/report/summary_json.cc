#include "report/summary_json.h"

#include "report/class_json.h"

#include <optional>

#include "core/duration_histogram.h"
#include "core/outcome.h"

namespace inferscale {
namespace {

// The engines' reasons always, the others where there are some.
JsonValue refusals_json(const RunSummary& summary) {
  JsonValue reasons = JsonValue::object();
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    const bool always = reason == Reason::kExceedsKvCache || reason == Reason::kExceedsModelLen ||
                        reason == Reason::kQueueFull;
    if (always || summary.refused_by[i] > 0) {
      reasons.add(std::string(reason_name(reason)), summary.refused_by[i]);
    }
  }
  return reasons;
}

JsonValue requests_json(const RunSummary& summary) {
  return JsonValue::object()
      .add("arrived", summary.arrived)
      .add("finished", summary.finished)
      .add("refused", summary.refused)
      .add("unfinished", summary.unfinished)
      .add("lost", summary.lost)
      .add("deferred", summary.deferred)
      .add("abandoned", summary.abandoned)
      .add("refused_by_reason", refusals_json(summary));
}

JsonValue warmup_json(const RunSummary& summary) {
  return JsonValue::object()
      .add("end_s", summary.warmup_s)
      .add("auto", summary.warmup_auto)
      .add("found", summary.warmup_auto ? JsonValue(summary.warmup_found) : JsonValue())
      .add("excluded", summary.warmup_excluded)
      .add("counted", summary.counted);
}

JsonValue doubt_json(BacklogDoubt doubt) {
  switch (doubt) {
    case BacklogDoubt::kNone:
      return {};
    case BacklogDoubt::kFewArrivals:
      return "few_arrivals";
    case BacklogDoubt::kLongRequests:
      return "long_requests";
    case BacklogDoubt::kFilling:
      return "filling";
    case BacklogDoubt::kWideInterval:
      return "wide_interval";
  }
  return {};
}

JsonValue backlog_json(const Backlog& backlog) {
  const auto figure = [&](double value) {
    return backlog.arrivals_rps > 0 ? JsonValue(value) : JsonValue();
  };
  return JsonValue::object()
      .add("verdict", verdict_name(backlog.verdict))
      .add("doubt", doubt_json(backlog.doubt))
      .add("arrivals", backlog.arrivals)
      .add("arrivals_rps", figure(backlog.arrivals_rps))
      .add("growth_rps", figure(backlog.growth_rps))
      .add("growth_rps_low", figure(backlog.growth_rps_low))
      .add("growth_rps_high", figure(backlog.growth_rps_high))
      .add("level", Backlog::kLevel);
}

JsonValue interval_json(const ConfidenceInterval& interval) {
  if (!interval.exists()) return {};
  return JsonValue::object()
      .add("low", interval.low)
      .add("high", interval.high)
      .add("batches", interval.batches)
      .add("lag1", interval.lag1);
}

JsonValue confidence_json(const RunConfidence& confidence) {
  return JsonValue::object()
      .add("level", ConfidenceInterval::kLevel)
      .add("ttft_ms_mean", interval_json(confidence.ttft_ms_mean))
      .add("ttft_ms_p95", interval_json(confidence.ttft_ms_p95))
      .add("tpot_ms_mean", interval_json(confidence.tpot_ms_mean))
      .add("e2e_ms_mean", interval_json(confidence.e2e_ms_mean))
      .add("e2e_ms_p95", interval_json(confidence.e2e_ms_p95))
      .add("queue_ms_mean", interval_json(confidence.queue_ms_mean))
      .add("goodput", interval_json(confidence.goodput));
}

JsonValue fleet_json(const FleetSummary& fleet) {
  if (fleet.replicas == 0) return {};
  JsonValue pools = JsonValue::array();
  for (const PoolSummary& pool : fleet.pools) {
    pools.append(JsonValue::object()
                     .add("pool", pool.name)
                     .add("replicas", pool.replicas)
                     .add("finished", pool.finished)
                     .add("up_hours", pool.up_hours)
                     .add("accelerator_hours", pool.accelerator_hours)
                     .add("busy_fraction", pool.busy_fraction)
                     .add("busy_imbalance", pool.busy_imbalance)
                     .add("finished_imbalance", pool.finished_imbalance));
  }
  return JsonValue::object().add("replicas", fleet.replicas).add("pools", std::move(pools));
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
  const bool is_judged = summary.classes.empty() ? slo.any() : summary.has_slo;
  if (!is_judged) return {};
  const auto target = [](std::optional<Duration> limit) {
    return limit ? JsonValue::millis(*limit) : JsonValue();
  };
  const auto met = [&](std::optional<Duration> Slo::* limit, std::int64_t count) {
    const bool judged = summary.judges(slo, limit);
    return judged ? JsonValue(count) : JsonValue();
  };
  return JsonValue::object()
      .add("ttft_ms", target(slo.ttft))
      .add("itl_ms", target(slo.itl))
      .add("e2e_ms", target(slo.e2e))
      .add("itl_rule", slo.itl_rule == ItlRule::kMax ? "max" : "p95")
      .add("met", summary.slo_met)
      .add("ttft_met", met(&Slo::ttft, summary.ttft_met))
      .add("itl_met", met(&Slo::itl, summary.itl_met))
      .add("e2e_met", met(&Slo::e2e, summary.e2e_met))
      .add("goodput", summary.counted == 0 ? JsonValue() : JsonValue(summary.goodput))
      .add("goodput_rps", summary.goodput_rps)
      .add("attainment_admitted",
           summary.admitted == 0 ? JsonValue() : JsonValue(summary.attainment_admitted));
}

}  // namespace

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

JsonValue summary_json(const RunSummary& summary, const Slo& slo) {
  JsonValue itl = population_json(summary.itl_ms);
  itl.add("relative_error", DurationHistogram::kRelativeError)
      .add("warmup_included", summary.warmup_excluded > 0);
  JsonValue json = JsonValue::object();
  json.add("requests", requests_json(summary))
      .add("warmup", warmup_json(summary))
      .add("steady", summary.steady())
      .add("backlog", backlog_json(summary.backlog))
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
      .add("confidence", confidence_json(summary.confidence))
      .add("prefix_hit_rate", summary.prefix_hit_rate)
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
           summary.accelerator_hours_per_million_output_tokens)
      .add("fleet", fleet_json(summary.fleet));
  if (!summary.classes.empty()) json.add("slo_classes", classes_json(summary.classes));
  return json;
}

}  // namespace inferscale
