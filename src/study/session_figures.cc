#include "study/session_figures.h"

namespace inferscale {
namespace {

constexpr double kSecondsPerNano = 1e-9;

void set_times(const SessionSummary& summary, RunFigures& figures) {
  const auto set = [&](const PopulationSummary& of, Metric metric, double value) {
    if (of.count > 0) figures.set(metric, value);
  };
  const PopulationSummary& ttft = summary.turn_ttft_ms;
  set(ttft, Metric::kTurnTtftMean, ttft.mean);
  set(ttft, Metric::kTurnTtftP50, ttft.p50);
  set(ttft, Metric::kTurnTtftP95, ttft.p95);
  set(ttft, Metric::kTurnTtftP99, ttft.p99);
  set(summary.turn_e2e_ms, Metric::kTurnE2eP95, summary.turn_e2e_ms.p95);
  const PopulationSummary& makespan = summary.makespan_s;
  set(makespan, Metric::kSessionMakespanMean, makespan.mean);
  set(makespan, Metric::kSessionMakespanP50, makespan.p50);
  set(makespan, Metric::kSessionMakespanP95, makespan.p95);
  set(summary.stretch, Metric::kSessionStretchP50, summary.stretch.p50);
  set(summary.stretch, Metric::kSessionStretchP95, summary.stretch.p95);
  figures.set(Metric::kRecomputeSeconds, summary.recompute_s);
  figures.set(Metric::kTransferSeconds, summary.transfer_s);
  figures.set(Metric::kExposedSeconds, summary.retention.exposed_ns * kSecondsPerNano);
}

void set_counts(const SessionSummary& summary, RunFigures& figures) {
  const auto set = [&](Metric metric, std::int64_t count) {
    figures.set(metric, static_cast<double>(count));
  };
  set(Metric::kSessions, summary.sessions);
  set(Metric::kSessionsComplete, summary.complete);
  set(Metric::kTurns, summary.turns);
  set(Metric::kTurnsFailed, summary.turns_failed);
  set(Metric::kTurnsUnreached, summary.turns_unreached);
  set(Metric::kHistoryRecomputed, summary.history_recomputed);
  set(Metric::kKvTokensPeakReplica, summary.retention.resident_peak);
  set(Metric::kEvictedTtlTokens, summary.retention.evicted_ttl);
  set(Metric::kEvictedPressureTokens, summary.retention.evicted_pressure);
  set(Metric::kStarved, summary.starved);
}

}  // namespace

void set_session_figures(const SessionSummary& summary, const SessionFacts& facts,
                         RunFigures& figures) {
  set_counts(summary, figures);
  set_times(summary, figures);
  if (summary.turns > 0 && facts.classes.any(facts.slo)) {
    figures.set(Metric::kTurnAttainment, summary.turn_attainment);
  }
  if (summary.sessions > 0) figures.set(Metric::kSessionAttainment, summary.session_attainment);
  figures.set(Metric::kHistoryHitRate, summary.history_hit_rate);
  figures.set(Metric::kPromptHitRate, summary.prompt_hit_rate);
  figures.set(Metric::kRoutingLocality, summary.locality);
  figures.set(Metric::kJain, summary.jain);
  figures.set(Metric::kHbmGbSeconds, summary.hbm_gb_seconds);
  figures.set(Metric::kIdleGbSeconds, summary.idle_gb_seconds);
  if (facts.end > Instant()) figures.set(Metric::kKvGbMean, summary.kv_gb_mean);
  figures.set(Metric::kKvGbPeakReplica, summary.kv_gb_peak_replica);
  if (facts.host_tier) figures.set(Metric::kHostGbPeak, summary.host_gb_peak);
}

}  // namespace inferscale
