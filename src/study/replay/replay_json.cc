#include "study/replay/replay_json.h"

namespace inferscale {
namespace {

JsonValue kind_json(const DecisionKind& kind) {
  return JsonValue::object()
      .add("verdict", verdict_name(kind.verdict))
      .add("reason", reason_name(kind.reason));
}

JsonValue decision_json(const Decision& decision) {
  const std::optional<Duration>& wait = decision.retry_after;
  return kind_json(kind_of(decision))
      .add("retry_after_ns", wait ? JsonValue(wait->ns()) : JsonValue());
}

JsonValue duty_json(const DutyCycle& duty) {
  return JsonValue::object()
      .add("samples", duty.samples)
      .add("refusing", duty.refusing)
      .add("share", duty.share());
}

JsonValue difference_json(const OpenReplayFigures::Difference& difference) {
  const DecisionRecord& record = difference.recorded;
  JsonValue readings = JsonValue::object();
  for (const SignalSpec& spec : all_signals()) {
    const Reading& reading = record.readings[static_cast<std::size_t>(spec.signal)];
    if (reading.is_known()) readings.add(std::string(spec.name), reading.value);
  }
  return JsonValue::object()
      .add("gate", record.gate)
      .add("sequence", record.sequence)
      .add("at_ns", record.at.ns())
      .add("request", record.request.request)
      .add("attempt", record.request.attempt)
      .add("recorded", decision_json(record.decided))
      .add("replayed", decision_json(difference.replayed))
      .add("readings", std::move(readings));
}

}  // namespace

JsonValue open_replay_json(const OpenReplayFigures& figures) {
  JsonValue table = JsonValue::array();
  for (const auto& [kinds, count] : figures.table) {
    table.append(JsonValue::object()
                     .add("recorded", kind_json(kinds.first))
                     .add("replayed", kind_json(kinds.second))
                     .add("decisions", count));
  }
  JsonValue first = JsonValue::array();
  for (const OpenReplayFigures::Difference& difference : figures.first) {
    first.append(difference_json(difference));
  }
  return JsonValue::object()
      .add("decisions", figures.decisions)
      .add("about_held", figures.held_again)
      .add("in_shadow", figures.shadow)
      .add("stale_recorded", figures.recorded_stale)
      .add("stale_replayed", figures.replayed_stale)
      .add("of_the_gate", figures.of_the_gate)
      .add("partly_old", figures.partly_old)
      .add("differ", figures.differ)
      .add("differ_in_wait", figures.differ_else)
      .add("table", std::move(table))
      .add("first_differences", std::move(first))
      .add("duty_cycle", JsonValue::object()
                             .add("recorded", duty_json(figures.recorded_duty))
                             .add("replayed", duty_json(figures.replayed_duty)));
}

JsonValue replayed_run_json(const ReplayedRun& run) {
  const auto ms = [&](double value) {
    return run.ttft_ms.count > 0 ? JsonValue(value) : JsonValue();
  };
  return JsonValue::object()
      .add("policy", run.policy)
      .add("goodput", run.goodput)
      .add("attainment_admitted", run.attainment_admitted)
      .add("ttft_ms_p50", ms(run.ttft_ms.p50))
      .add("ttft_ms_p95", ms(run.ttft_ms.p95))
      .add("requests", run.requests)
      .add("finished", run.finished)
      .add("attempts", run.attempts)
      .add("admitted", run.admitted)
      .add("deferred", run.deferred)
      .add("rejected", run.rejected)
      .add("shadow_refusals", run.shadow_refusals);
}

JsonValue paired_outcomes_json(const PairedOutcomes& pairs) {
  return JsonValue::object()
      .add("of", pairs.of_sessions ? "sessions completed"
                 : pairs.has_slo   ? "requests that met the SLO"
                                   : "requests that finished")
      .add("both", pairs.both)
      .add("recorded_only", pairs.recorded_only)
      .add("replayed_only", pairs.replayed_only)
      .add("neither", pairs.neither);
}

}  // namespace inferscale
