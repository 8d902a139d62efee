#include "study/capacity/capacity_json.h"

#include <array>

#include "core/slo_class_options.h"

namespace inferscale {
namespace {

// Means over repetitions that are kept of each load, under their own names.
constexpr std::array kProbeMeans = {Metric::kTtftP95,
                                    Metric::kItlP95,
                                    Metric::kE2eP95,
                                    Metric::kTtftMet,
                                    Metric::kItlMet,
                                    Metric::kE2eMet,
                                    Metric::kRefused,
                                    Metric::kArrived,
                                    Metric::kOfferedRps,
                                    Metric::kGoodputRps,
                                    Metric::kOutputTokensPerSecond,
                                    Metric::kUtilisation,
                                    Metric::kKvUsedPeak,
                                    Metric::kAccelerators,
                                    Metric::kArrivalWindow,
                                    Metric::kServiceMax};

std::string_view name_of(CapacityVerdict verdict) {
  if (verdict == CapacityVerdict::kFound) return "found";
  if (verdict == CapacityVerdict::kNotJudged) return "not_judged";
  return verdict == CapacityVerdict::kNeverFailed ? "never_failed" : "never_passed";
}

std::string_view name_of(ProbeStage stage) {
  if (stage == ProbeStage::kBracket) return "bracket";
  return stage == ProbeStage::kBisection ? "bisection" : "scan";
}

JsonValue target(const std::optional<Duration>& duration) {
  return duration ? JsonValue::millis(*duration) : JsonValue();
}

std::optional<double> ratio(std::optional<double> part, std::optional<double> whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

template <typename T>
JsonValue list_of(const std::vector<T>& items) {
  JsonValue list = JsonValue::array();
  for (const T& item : items) list.append(JsonValue(item));
  return list;
}

// What one load amounts to, for the two loads that are the answer.
JsonValue yield_json(const CapacityProbe* probe) {
  if (probe == nullptr) return {};
  const RunFigures& mean = probe->mean;
  const auto accelerators = mean[Metric::kAccelerators];
  JsonValue json = JsonValue::object();
  json.add("carried", probe->carried);
  for (const Metric metric : {Metric::kOfferedRps, Metric::kGoodputRps,
                              Metric::kOutputTokensPerSecond, Metric::kAccelerators}) {
    json.add(std::string(info_of(metric).name), mean[metric]);
  }
  json.add("offered_rps_per_accelerator", ratio(mean[Metric::kOfferedRps], accelerators));
  json.add("output_tokens_per_s_per_accelerator",
           ratio(mean[Metric::kOutputTokensPerSecond], accelerators));
  json.add("saturated", probe->saturated);
  return json;
}

JsonValue probe_json(const CapacityProbe& probe) {
  JsonValue settings = JsonValue::array();
  for (const Setting& setting : probe.settings) settings.append(setting_text(setting));
  const std::optional<AttainmentSpread>& attainment = probe.attainment;
  JsonValue json = JsonValue::object();
  json.add("load", probe.load);
  json.add("carried", probe.carried);
  json.add("stage", name_of(probe.stage));
  json.add("settings", std::move(settings));
  json.add("attainment_mean", attainment ? JsonValue(attainment->mean) : JsonValue());
  json.add("attainment_worst", attainment ? JsonValue(attainment->worst) : JsonValue());
  json.add("attainment_best", attainment ? JsonValue(attainment->best) : JsonValue());
  json.add("attainment_deviation", attainment ? JsonValue(attainment->deviation) : JsonValue());
  json.add("repetitions", probe.repetitions);
  json.add("missed_attainment", probe.missed_attainment);
  json.add("not_drained", probe.not_drained);
  json.add("unfinished", probe.unfinished);
  json.add("not_judged", probe.not_judged);
  json.add("not_simulated", probe.not_simulated);
  json.add("saturated", probe.saturated);
  json.add("drain_s", probe.drain_s);
  json.add("drain_bound_s", probe.drain_bound_s);
  for (const Metric metric : kProbeMeans) {
    json.add(std::string(info_of(metric).name), probe.mean[metric]);
  }
  json.add("failures", list_of(probe.failures));
  return json;
}

void add_question(const CapacityResult& result, JsonValue& json) {
  const CapacityOptions& options = result.options;
  json.add("scenario", result.label);
  json.add("search", search_name(options.search));
  json.add("load_unit", result.unit);
  json.add("harder_is_lower", result.falls);
  json.add("fixed_load", result.fixed_load);
  json.add("fixed_load_unit", result.fixed_load ? JsonValue(result.fixed_load_unit) : JsonValue());
  json.add("keeps", result.keeps_window ? "window" : "requests");
  json.add("workload_changes", list_of(result.workload_changes));
  json.add("slo", JsonValue::object()
                      .add("ttft_ms", target(result.slo.ttft))
                      .add("itl_ms", target(result.slo.itl))
                      .add("e2e_ms", target(result.slo.e2e)));
  if (!result.slo_classes.empty()) json.add("slo_classes", names_of(result.slo_classes));
  json.add("attainment_target", options.attainment);
  json.add("drain_within_s",
           options.drain_within ? JsonValue(options.drain_within->seconds()) : JsonValue());
  json.add("tolerance", options.tolerance);
  json.add("headroom", options.headroom);
  json.add("repetitions", result.repetitions);
  json.add("seed", result.seed);
}

}  // namespace

std::string_view search_name(CapacitySearch search) {
  if (search == CapacitySearch::kRate) return "rate";
  return search == CapacitySearch::kReplicas ? "replicas" : "trace_rate_scale";
}

JsonValue capacity_json(const CapacityResult& result) {
  JsonValue json = JsonValue::object();
  json.add("kind", "capacity");
  json.add("simulated", true);
  add_question(result, json);
  json.add("verdict", name_of(result.verdict));
  json.add("within_tolerance", result.within_tolerance);
  json.add("carried", result.carried);
  json.add("not_carried", result.not_carried);
  json.add("recommended", result.recommended);
  json.add("best_tried", result.best_tried);
  json.add("not_judged", result.not_judged);
  json.add("at_carried", yield_json(result.probe_of(result.carried)));
  json.add("at_recommended", yield_json(result.probe_of(result.recommended)));
  json.add("easier_failed", list_of(result.easier_failed));
  json.add("repetitions_alike", result.repetitions_alike);
  JsonValue probes = JsonValue::array();
  for (const CapacityProbe& probe : result.probes) probes.append(probe_json(probe));
  json.add("probes", std::move(probes));
  return json;
}

}  // namespace inferscale
