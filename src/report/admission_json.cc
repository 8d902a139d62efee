#include "report/admission_json.h"

#include <algorithm>
#include <vector>

#include "report/summary_json.h"

namespace inferscale {
namespace {

JsonValue requests_json(const AdmissionSummary& s) {
  return JsonValue::object()
      .add("arrived", s.requests)
      .add("gave_up", s.gave_up)
      .add("left", s.left)
      .add("elsewhere", s.elsewhere);
}

JsonValue attempts_json(const AdmissionSummary& s) {
  return JsonValue::object()
      .add("made", s.attempts)
      .add("amplification", s.amplification)
      .add("engine_refusals", s.engine_refusals);
}

JsonValue goodput_json(const AdmissionSummary& s) {
  return JsonValue::object()
      .add("counted", s.counted)
      .add("admitted", s.admitted)
      .add("met", s.has_slo ? JsonValue(s.met) : JsonValue())
      .add("goodput", s.goodput)
      .add("attainment_admitted", s.attainment_admitted)
      .add("goodput_of_arrivals_rps", s.goodput_rps)
      .add("offered_rps", s.offered_rps)
      .add("arrival_window_s", s.arrival_window_s);
}

JsonValue sums_json(TokenSums sums) {
  return JsonValue::object().add("prompt", sums.prompt).add("output", sums.output);
}

JsonValue tokens_json(const TokenUse& use) {
  return JsonValue::object()
      .add("worked", sums_json(use.worked))
      .add("useful", sums_json(use.useful))
      .add("wasted", sums_json(use.wasted()))
      .add("wasted_share", use.wasted_share())
      .add("wasted_by_cause", JsonValue::object()
                                  .add("missed", sums_json(use.missed))
                                  .add("gone", sums_json(use.gone))
                                  .add("repeated", sums_json(use.repeated)));
}

JsonValue reasons_json(const DecisionFigures& decisions) {
  JsonValue reasons = JsonValue::object();
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const ReasonCounts& counts = decisions.by_reason[i];
    if (!counts.any()) continue;
    reasons.add(std::string(reason_name(static_cast<Reason>(i))),
                JsonValue::object()
                    .add("deferred", counts.deferred)
                    .add("rejected", counts.rejected)
                    .add("held", counts.held)
                    .add("shadow_deferred", counts.shadow_deferred)
                    .add("shadow_rejected", counts.shadow_rejected));
  }
  return reasons;
}

JsonValue decisions_json(const AdmissionSummary& summary) {
  const std::optional<DecisionFigures>& decisions = summary.decisions;
  if (!decisions) return {};
  return JsonValue::object()
      .add("all", decisions->decisions)
      .add("presented", decisions->presented)
      .add("rerouted", decisions->rerouted)
      .add("admitted", decisions->admitted)
      .add("deferred", decisions->deferred)
      .add("rejected", decisions->rejected)
      .add("left", decisions->left)
      .add("held", decisions->held)
      .add("shadow", decisions->shadow)
      .add("shadow_refusals", decisions->shadow_refusals)
      .add("policy_decisions", decisions->policy_decisions)
      .add("policy_refusals", decisions->policy_refusals)
      .add("stale", decisions->stale_decisions)
      .add("policy_failures", decisions->policy_failures)
      .add("policy_failure",
           summary.policy_failure.empty() ? JsonValue() : JsonValue(summary.policy_failure))
      .add("by_reason", reasons_json(*decisions))
      .add("defer_s", population_json(decisions->defer_s))
      .add("hold_s", population_json(decisions->hold_s));
}

JsonValue signals_json(const std::optional<DecisionFigures>& decisions) {
  JsonValue signals = JsonValue::array();
  if (!decisions) return signals;
  for (const SignalFigures& figures : decisions->signals) {
    const SignalSpec& spec = spec_of(figures.signal);
    const auto figure = [&](double value) {
      return figures.known == 0 ? JsonValue() : JsonValue(value);
    };
    signals.append(JsonValue::object()
                       .add("signal", spec.name)
                       .add("unit", spec.unit)
                       .add("decisions", figures.decisions)
                       .add("known", figures.known)
                       .add("known_share", figures.known_share())
                       .add("min", figure(figures.min))
                       .add("p50", figure(figures.p50))
                       .add("p95", figure(figures.p95))
                       .add("max", figure(figures.max))
                       .add("relative_error", ValueRange::kRelativeError));
  }
  return signals;
}

JsonValue liveness_json(const AdmissionSummary& s) {
  JsonValue threshold;
  if (s.threshold) {
    threshold = JsonValue::object()
                    .add("signal", spec_of(s.threshold->signal).name)
                    .add("value", s.threshold->value)
                    .add("below", s.threshold->below)
                    .add("headroom", s.signal_headroom);
  }
  return JsonValue::object()
      .add("threshold", std::move(threshold))
      .add("signal_reached", liveness_name(s.signal_reached))
      .add("policy_acted", liveness_name(s.policy_acted))
      .add("admits_all", s.admits_all);
}

JsonValue tenant_json(const TenantFigures& tenant, bool has_slo,
                      std::span<const std::string> names) {
  const bool named = tenant.tenant < names.size();
  return JsonValue::object()
      .add("tenant", named ? names[tenant.tenant] : std::to_string(tenant.tenant))
      .add("requests", tenant.requests)
      .add("finished", tenant.finished)
      .add("met", has_slo ? JsonValue(tenant.met) : JsonValue())
      .add("goodput", has_slo ? JsonValue(tenant.goodput()) : JsonValue())
      .add("served_tokens", tenant.served_tokens)
      .add("e2e_ms_p95", tenant.e2e_p95_ms);
}

JsonValue fairness_json(const AdmissionSummary& s, std::span<const std::string> names) {
  const TenantFairness& fairness = s.fairness;
  if (fairness.tenants.empty()) return {};
  std::vector<TenantFigures> shown = fairness.tenants;
  std::stable_sort(shown.begin(), shown.end(), [](const TenantFigures& a, const TenantFigures& b) {
    return a.requests > b.requests;
  });
  shown.resize(std::min(shown.size(), kMostTenantRows));
  JsonValue rows = JsonValue::array();
  for (const TenantFigures& tenant : shown) rows.append(tenant_json(tenant, s.has_slo, names));
  return JsonValue::object()
      .add("tenants", fairness.tenants.size())
      .add("goodput_jain", fairness.goodput_jain)
      .add("tokens_jain", fairness.tokens_jain)
      .add("latency_jain", fairness.latency_jain)
      .add("without_latency", fairness.without_latency)
      .add("rows", std::move(rows));
}

JsonValue sessions_json(const AdmissionSummary& s) {
  if (!s.sessions) return {};
  return JsonValue::object()
      .add("begun", *s.sessions)
      .add("complete", s.sessions_complete)
      .add("calls_never_made", s.never_made)
      .add("completion", s.completion);
}

}  // namespace

JsonValue admission_json(const AdmissionSummary& summary,
                         std::span<const std::string> tenant_names) {
  return JsonValue::object()
      .add("policy", summary.policy)
      .add("enforce", summary.enforce)
      .add("requests", requests_json(summary))
      .add("attempts", attempts_json(summary))
      .add("slo", goodput_json(summary))
      .add("tokens", tokens_json(summary.tokens))
      .add("decisions", decisions_json(summary))
      .add("signals", signals_json(summary.decisions))
      .add("liveness", liveness_json(summary))
      .add("fairness", fairness_json(summary, tenant_names))
      .add("sessions", sessions_json(summary));
}

}  // namespace inferscale
