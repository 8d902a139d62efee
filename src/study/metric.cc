#include "study/metric.h"

#include <array>

namespace inferscale {
namespace {

constexpr std::array<MetricInfo, kMetricCount> kMetrics = {{
    {Metric::kTtftMean, "ttft_ms_mean", "TTFT mean", "ms", Better::kLower},
    {Metric::kTtftP50, "ttft_ms_p50", "TTFT p50", "ms", Better::kLower},
    {Metric::kTtftP90, "ttft_ms_p90", "TTFT p90", "ms", Better::kLower},
    {Metric::kTtftP95, "ttft_ms_p95", "TTFT p95", "ms", Better::kLower},
    {Metric::kTtftP99, "ttft_ms_p99", "TTFT p99", "ms", Better::kLower},
    {Metric::kTpotMean, "tpot_ms_mean", "TPOT mean", "ms", Better::kLower},
    {Metric::kTpotP50, "tpot_ms_p50", "TPOT p50", "ms", Better::kLower},
    {Metric::kTpotP90, "tpot_ms_p90", "TPOT p90", "ms", Better::kLower},
    {Metric::kTpotP95, "tpot_ms_p95", "TPOT p95", "ms", Better::kLower},
    {Metric::kTpotP99, "tpot_ms_p99", "TPOT p99", "ms", Better::kLower},
    {Metric::kItlMean, "itl_ms_mean", "ITL mean", "ms", Better::kLower},
    {Metric::kItlP50, "itl_ms_p50", "ITL p50", "ms", Better::kLower},
    {Metric::kItlP95, "itl_ms_p95", "ITL p95", "ms", Better::kLower},
    {Metric::kItlP99, "itl_ms_p99", "ITL p99", "ms", Better::kLower},
    {Metric::kE2eMean, "e2e_ms_mean", "E2E mean", "ms", Better::kLower},
    {Metric::kE2eP50, "e2e_ms_p50", "E2E p50", "ms", Better::kLower},
    {Metric::kE2eP90, "e2e_ms_p90", "E2E p90", "ms", Better::kLower},
    {Metric::kE2eP95, "e2e_ms_p95", "E2E p95", "ms", Better::kLower},
    {Metric::kE2eP99, "e2e_ms_p99", "E2E p99", "ms", Better::kLower},
    {Metric::kQueueMean, "queue_ms_mean", "queue time mean", "ms", Better::kLower},
    {Metric::kQueueP95, "queue_ms_p95", "queue time p95", "ms", Better::kLower},
    {Metric::kGoodput, "goodput", "goodput", "", Better::kHigher},
    {Metric::kGoodputRps, "goodput_rps", "goodput", "requests/s", Better::kHigher},
    {Metric::kAttainmentAdmitted, "attainment_admitted", "attainment of admitted", "",
     Better::kHigher},
    {Metric::kTtftMet, "ttft_met", "TTFT target met", "", Better::kHigher},
    {Metric::kItlMet, "itl_met", "ITL target met", "", Better::kHigher},
    {Metric::kE2eMet, "e2e_met", "E2E target met", "", Better::kHigher},
    {Metric::kOfferedRps, "offered_rps", "offered", "requests/s", Better::kNeither},
    {Metric::kFinishedRps, "finished_rps", "finished", "requests/s", Better::kHigher},
    {Metric::kOutputTokensPerSecond, "output_tokens_per_s", "output tokens", "tokens/s",
     Better::kHigher},
    {Metric::kPrefixHitRate, "prefix_hit_rate", "prefix hit rate", "", Better::kHigher},
    {Metric::kKvUsedMean, "kv_used_mean", "KV use mean", "", Better::kNeither},
    {Metric::kKvUsedPeak, "kv_used_peak", "KV use peak", "", Better::kNeither},
    {Metric::kUtilisation, "utilisation", "utilisation", "", Better::kNeither},
    {Metric::kRunningMean, "running_mean", "running mean", "sequences", Better::kNeither},
    {Metric::kQueuePeak, "queue_peak", "queue peak", "requests", Better::kLower},
    {Metric::kPreemptions, "preemptions", "preemptions", "", Better::kLower},
    {Metric::kAccelerators, "accelerators_mean", "accelerators", "", Better::kNeither},
    {Metric::kAcceleratorHours, "accelerator_hours", "accelerator-hours", "h", Better::kLower},
    {Metric::kGoodputRpsPerAccelerator, "goodput_rps_per_accelerator", "goodput per accelerator",
     "requests/s", Better::kHigher},
    {Metric::kCostPerHour, "cost_per_hour", "cost per hour", "", Better::kLower},
    {Metric::kGoodRequestsPerCost, "good_requests_per_cost", "good requests per cost", "",
     Better::kHigher},
    {Metric::kCostPerMillionOutputTokens, "cost_per_million_output_tokens",
     "cost per million output tokens", "", Better::kLower},
    {Metric::kArrived, "arrived", "arrived", "requests", Better::kNeither},
    {Metric::kCounted, "counted", "counted", "requests", Better::kNeither},
    {Metric::kFinished, "finished", "finished", "requests", Better::kNeither},
    {Metric::kRefused, "refused", "refused", "requests", Better::kLower},
    {Metric::kLost, "lost", "lost", "requests", Better::kLower},
    {Metric::kUnfinished, "unfinished", "unfinished", "requests", Better::kLower},
    {Metric::kRejectedShare, "rejected_share", "attempts rejected", "", Better::kNeither},
    {Metric::kDeferredShare, "deferred_share", "attempts deferred", "", Better::kNeither},
    {Metric::kArrivalWindow, "arrival_window_s", "arrival window", "s", Better::kNeither},
    {Metric::kDuration, "duration_s", "duration", "s", Better::kNeither},
    {Metric::kDrain, "drain_s", "drain", "s", Better::kLower},
    {Metric::kServiceMax, "service_s_max", "longest service", "s", Better::kNeither},
    {Metric::kSaturated, "saturated", "saturated", "", Better::kNeither},
    {Metric::kTurnTtftMean, "turn_ttft_ms_mean", "turn TTFT mean", "ms", Better::kLower},
    {Metric::kTurnTtftP50, "turn_ttft_ms_p50", "turn TTFT p50", "ms", Better::kLower},
    {Metric::kTurnTtftP95, "turn_ttft_ms_p95", "turn TTFT p95", "ms", Better::kLower},
    {Metric::kTurnTtftP99, "turn_ttft_ms_p99", "turn TTFT p99", "ms", Better::kLower},
    {Metric::kTurnE2eP95, "turn_e2e_ms_p95", "turn E2E p95", "ms", Better::kLower},
    {Metric::kSessionMakespanMean, "session_makespan_s_mean", "session makespan mean", "s",
     Better::kLower},
    {Metric::kSessionMakespanP50, "session_makespan_s_p50", "session makespan p50", "s",
     Better::kLower},
    {Metric::kSessionMakespanP95, "session_makespan_s_p95", "session makespan p95", "s",
     Better::kLower},
    {Metric::kSessionStretchP50, "session_stretch_p50", "session stretch p50", "", Better::kLower},
    {Metric::kSessionStretchP95, "session_stretch_p95", "session stretch p95", "", Better::kLower},
    {Metric::kTurnAttainment, "turn_attainment", "turn attainment", "", Better::kHigher},
    {Metric::kSessionAttainment, "session_attainment", "session attainment", "", Better::kHigher},
    {Metric::kSessions, "sessions", "sessions", "", Better::kNeither},
    {Metric::kSessionsComplete, "sessions_complete", "complete sessions", "", Better::kHigher},
    {Metric::kTurns, "turns", "turns", "", Better::kNeither},
    {Metric::kTurnsFailed, "turns_failed", "failed turns", "", Better::kLower},
    {Metric::kTurnsUnreached, "turns_unreached", "unreached turns", "", Better::kLower},
    {Metric::kHistoryHitRate, "history_hit_rate", "history hit rate", "", Better::kHigher},
    {Metric::kPromptHitRate, "prompt_hit_rate", "prompt hit rate", "", Better::kHigher},
    {Metric::kHistoryRecomputed, "history_recomputed_tokens", "history recomputed", "tokens",
     Better::kLower},
    {Metric::kRoutingLocality, "routing_locality", "routing locality", "", Better::kHigher},
    {Metric::kHbmGbSeconds, "hbm_gb_seconds", "KV in HBM", "GB s", Better::kLower},
    {Metric::kIdleGbSeconds, "idle_gb_seconds", "idle KV in HBM", "GB s", Better::kLower},
    {Metric::kKvGbMean, "kv_gb_mean", "KV in HBM mean", "GB", Better::kLower},
    {Metric::kKvGbPeakReplica, "kv_gb_peak_replica", "KV in HBM peak of a replica", "GB",
     Better::kLower},
    {Metric::kKvTokensPeakReplica, "kv_tokens_peak_replica", "KV in HBM peak of a replica",
     "tokens", Better::kLower},
    {Metric::kEvictedTtlTokens, "evicted_ttl_tokens", "evicted by TTL", "tokens", Better::kLower},
    {Metric::kEvictedPressureTokens, "evicted_pressure_tokens", "evicted under pressure", "tokens",
     Better::kLower},
    {Metric::kRecomputeSeconds, "recompute_s", "time of recomputing", "s", Better::kLower},
    {Metric::kTransferSeconds, "transfer_s", "time of transfers", "s", Better::kLower},
    {Metric::kExposedSeconds, "exposed_s", "exposed offload time", "s", Better::kLower},
    {Metric::kHostGbPeak, "host_gb_peak", "KV in host memory peak", "GB", Better::kNeither},
    {Metric::kJain, "jain", "Jain's index of sessions", "", Better::kHigher},
    {Metric::kStarved, "starved", "starved sessions", "", Better::kLower},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (static_cast<std::size_t>(kMetrics[i].metric) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const MetricInfo> all_metrics() {
  return kMetrics;
}

const MetricInfo& info_of(Metric metric) {
  return kMetrics[static_cast<std::size_t>(metric)];
}

std::optional<Metric> metric_named(std::string_view name) {
  for (const MetricInfo& info : kMetrics) {
    if (info.name == name) return info.metric;
  }
  return std::nullopt;
}

}  // namespace inferscale
