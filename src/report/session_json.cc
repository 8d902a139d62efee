#include "report/session_json.h"

#include <algorithm>

#include "report/summary_json.h"

namespace inferscale {
namespace {

constexpr double kSecondsPerNano = 1e-9;

JsonValue share(double value, std::int64_t whole) {
  return whole > 0 ? JsonValue(value) : JsonValue();
}

JsonValue turns_json(const SessionSummary& s) {
  return JsonValue::object()
      .add("all", s.turns)
      .add("finished", s.turns_finished)
      .add("failed", s.turns_failed)
      .add("unfinished", s.turns_unfinished())
      .add("unreached", s.turns_unreached)
      .add("attempts", s.attempts);
}

JsonValue slo_json(const SessionSummary& s, const SessionFacts& facts) {
  const bool judged = facts.classes.any(facts.slo);
  return JsonValue::object()
      .add("turns_met", judged ? JsonValue(s.turns_met) : JsonValue())
      .add("turn_attainment", judged ? share(s.turn_attainment, s.turns) : JsonValue())
      .add("makespan_s", facts.makespan ? JsonValue(facts.makespan->seconds()) : JsonValue())
      .add("sessions_met", s.sessions_met)
      .add("session_attainment", share(s.session_attainment, s.sessions));
}

JsonValue reuse_json(const SessionSummary& s) {
  return JsonValue::object()
      .add("turns_with_history", s.turns_with_history)
      .add("turns_hit", s.turns_hit)
      .add("history_tokens", s.history_tokens)
      .add("history_recomputed_tokens", s.history_recomputed)
      .add("history_hit_rate", s.history_hit_rate)
      .add("prompt_hit_rate", s.prompt_hit_rate)
      .add("routing_locality", s.locality)
      .add("recompute_s", s.recompute_s)
      .add("transfer_s", s.transfer_s);
}

JsonValue fairness_json(const SessionSummary& s) {
  return JsonValue::object()
      .add("jain", s.jain)
      .add("starved", s.starved)
      .add("queue_s_max", s.queue_s_max);
}

JsonValue times_json(const SessionSummary& s) {
  const SessionTimes& times = s.times;
  const bool begun = s.sessions > 0;
  return JsonValue::object()
      .add("last_begin_s", begun ? JsonValue(times.last_begin_s) : JsonValue())
      .add("after_share", begun ? JsonValue(times.after_share) : JsonValue())
      .add("after_sessions_mean", begun ? JsonValue(times.after_sessions_mean) : JsonValue())
      .add("most_turns_s", times.most_turns ? JsonValue(times.most_turns->seconds()) : JsonValue())
      .add("most_turns_output_tokens_per_s", times.most_turns_output_tokens_per_s);
}

JsonValue kv_json(const SessionSummary& s, const SessionFacts& facts) {
  const KvRetentionUsage& usage = s.retention;
  const bool lasted = facts.end > Instant();
  const auto a_session = [&](double gb_seconds) {
    return share(gb_seconds / static_cast<double>(std::max<std::int64_t>(s.sessions, 1)),
                 s.sessions);
  };
  return JsonValue::object()
      .add("hbm_gb_seconds", s.hbm_gb_seconds)
      .add("idle_gb_seconds", s.idle_gb_seconds)
      .add("hbm_gb_seconds_a_session", a_session(s.hbm_gb_seconds))
      .add("idle_gb_seconds_a_session", a_session(s.idle_gb_seconds))
      .add("gb_mean", lasted ? JsonValue(s.kv_gb_mean) : JsonValue())
      .add("gb_peak_replica", s.kv_gb_peak_replica)
      .add("tokens_peak_replica", usage.resident_peak)
      .add("evicted", JsonValue::object()
                          .add("ttl_tokens", usage.evicted_ttl)
                          .add("ttl_times", usage.evictions_ttl)
                          .add("pressure_tokens", usage.evicted_pressure)
                          .add("pressure_times", usage.evictions_pressure)
                          .add("ended_tokens", usage.dropped_ended)
                          .add("recompute_tokens", usage.dropped_recompute));
}

JsonValue host_json(const SessionSummary& s, const SessionFacts& facts) {
  if (!facts.host_tier) return {};
  const KvRetentionUsage& usage = s.retention;
  const double token_s_to_gb_s = facts.kv_bytes_per_token * 1e-9;
  return JsonValue::object()
      .add("offloads", usage.offloads)
      .add("offloaded_tokens", usage.offloaded)
      .add("offload_s", usage.offload_ns * kSecondsPerNano)
      .add("exposed_s", usage.exposed_ns * kSecondsPerNano)
      .add("restores", usage.restores)
      .add("restored_tokens", usage.restored)
      .add("restore_s", usage.restore_ns * kSecondsPerNano)
      .add("evicted_tokens", usage.host_evicted)
      .add("gb_seconds", usage.host_token_ns * kSecondsPerNano * token_s_to_gb_s)
      .add("gb_peak_replica", s.host_gb_peak);
}

}  // namespace

JsonValue session_json(const SessionSummary& summary, const SessionFacts& facts) {
  return JsonValue::object()
      .add("begun", summary.sessions)
      .add("complete", summary.complete)
      .add("failed", summary.failed)
      .add("unfinished", summary.unfinished)
      .add("turns", turns_json(summary))
      .add("turn_ttft_ms", population_json(summary.turn_ttft_ms))
      .add("turn_e2e_ms", population_json(summary.turn_e2e_ms))
      .add("makespan_s", population_json(summary.makespan_s))
      .add("stretch", population_json(summary.stretch))
      .add("slo", slo_json(summary, facts))
      .add("reuse", reuse_json(summary))
      .add("fairness", fairness_json(summary))
      .add("times", times_json(summary))
      .add("kv", kv_json(summary, facts))
      .add("host", host_json(summary, facts));
}

}  // namespace inferscale
