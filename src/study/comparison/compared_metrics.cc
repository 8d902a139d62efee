#include "study/comparison/compared_metrics.h"

namespace inferscale {
namespace {

constexpr HeadlineMetrics kRequestHeadline = {Metric::kGoodput, Metric::kTtftP95, Metric::kE2eP95};

constexpr std::array kRequestMetrics = {Metric::kGoodput,
                                        Metric::kTtftP95,
                                        Metric::kE2eP95,
                                        Metric::kGoodputRps,
                                        Metric::kTtftMean,
                                        Metric::kTtftP50,
                                        Metric::kTtftP99,
                                        Metric::kTpotMean,
                                        Metric::kItlP95,
                                        Metric::kE2eMean,
                                        Metric::kFinishedRps,
                                        Metric::kOutputTokensPerSecond,
                                        Metric::kGoodputRpsPerAccelerator,
                                        Metric::kCostPerHour,
                                        Metric::kGoodRequestsPerCost,
                                        Metric::kPrefixHitRate,
                                        Metric::kKvUsedMean};

constexpr HeadlineMetrics kSessionHeadline = {Metric::kTurnAttainment, Metric::kTurnTtftP95,
                                              Metric::kSessionMakespanP95};

// Goodput and latencies of single requests are left out: turns have their own.
constexpr std::array kSessionMetrics = {Metric::kTurnAttainment,
                                        Metric::kTurnTtftP95,
                                        Metric::kSessionMakespanP95,
                                        Metric::kSessionAttainment,
                                        Metric::kTurnTtftMean,
                                        Metric::kTurnTtftP50,
                                        Metric::kTurnTtftP99,
                                        Metric::kTurnE2eP95,
                                        Metric::kSessionMakespanP50,
                                        Metric::kSessionsComplete,
                                        Metric::kTurnsFailed,
                                        Metric::kHistoryHitRate,
                                        Metric::kRoutingLocality,
                                        Metric::kRecomputeSeconds,
                                        Metric::kTransferSeconds,
                                        Metric::kKvGbMean,
                                        Metric::kKvGbPeakReplica,
                                        Metric::kEvictedTtlTokens,
                                        Metric::kEvictedPressureTokens,
                                        Metric::kHostGbPeak,
                                        Metric::kTpotMean,
                                        Metric::kItlP95,
                                        Metric::kOutputTokensPerSecond,
                                        Metric::kGoodputRpsPerAccelerator,
                                        Metric::kCostPerHour,
                                        Metric::kGoodRequestsPerCost};

}  // namespace

ComparedWork compared_work(const Scenario& baseline, const Scenario& treatment) {
  const bool sessions = baseline.base().config.workload.sessions.has_value() &&
                        treatment.base().config.workload.sessions.has_value();
  return sessions ? ComparedWork::kSessions : ComparedWork::kRequests;
}

const HeadlineMetrics& headline_metrics(ComparedWork work) {
  return work == ComparedWork::kSessions ? kSessionHeadline : kRequestHeadline;
}

std::span<const Metric> judged_metrics(ComparedWork work) {
  if (work == ComparedWork::kSessions) return kSessionMetrics;
  return kRequestMetrics;
}

}  // namespace inferscale
