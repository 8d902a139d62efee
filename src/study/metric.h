// The figures of a run that studies compare: one row each, with its name, unit and which way is
// better.
//
// Names are those of summary.json (docs/metrics.md) in one flat spelling: unit, then statistic.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace inferscale {

enum class Metric : std::uint8_t {
  kTtftMean,
  kTtftP50,
  kTtftP90,
  kTtftP95,
  kTtftP99,
  kTpotMean,
  kTpotP50,
  kTpotP90,
  kTpotP95,
  kTpotP99,
  kItlMean,
  kItlP50,
  kItlP95,
  kItlP99,
  kE2eMean,
  kE2eP50,
  kE2eP90,
  kE2eP95,
  kE2eP99,
  kQueueMean,
  kQueueP95,
  kGoodput,  // met SLO / arrivals
  kGoodputRps,
  kAttainmentAdmitted,
  kTtftMet,
  kItlMet,
  kE2eMet,  // fractions of the counted requests
  kOfferedRps,
  kFinishedRps,
  kOutputTokensPerSecond,
  kPrefixHitRate,
  kKvUsedMean,
  kKvUsedPeak,
  kUtilisation,
  kRunningMean,
  kQueuePeak,
  kPreemptions,
  kAccelerators,  // mean over the run's duration: accelerator-hours / hours
  kAcceleratorHours,
  kGoodputRpsPerAccelerator,
  kCostPerHour,          // mean over the run's duration; none without prices
  kGoodRequestsPerCost,  // requests that met the SLO for one unit of money
  kCostPerMillionOutputTokens,
  kArrived,
  kCounted,
  kFinished,
  kRefused,
  kLost,
  kUnfinished,
  kRejectedShare,  // of attempts, at the door; none where nobody decides
  kDeferredShare,  // of attempts that were answered so
  kArrivalWindow,  // seconds from the first to the last arrival
  kDuration,       // seconds to the last event
  kDrain,          // seconds from the last arrival to the last event
  kServiceMax,     // seconds, the longest finish - start of a request
  kSaturated,      // 1: the backlog grows, 0: it does not; none: undecided

  // Of runs of agent programs only (docs/metrics.md, "Agent sessions").
  kTurnTtftMean,
  kTurnTtftP50,
  kTurnTtftP95,
  kTurnTtftP99,
  kTurnE2eP95,
  kSessionMakespanMean,
  kSessionMakespanP50,
  kSessionMakespanP95,
  kSessionStretchP50,
  kSessionStretchP95,
  kTurnAttainment,  // of all turns of sessions that began; none without targets
  kSessionAttainment,
  kSessions,
  kSessionsComplete,
  kTurns,
  kTurnsFailed,
  kTurnsUnreached,
  kHistoryHitRate,
  kPromptHitRate,
  kHistoryRecomputed,
  kRoutingLocality,
  kHbmGbSeconds,
  kIdleGbSeconds,
  kKvGbMean,
  kKvGbPeakReplica,
  kKvTokensPeakReplica,
  kEvictedTtlTokens,
  kEvictedPressureTokens,
  kRecomputeSeconds,
  kTransferSeconds,
  kExposedSeconds,
  kHostGbPeak,  // of runs with a host tier
  kJain,
  kStarved,
};

constexpr std::size_t kMetricCount = static_cast<std::size_t>(Metric::kStarved) + 1;

enum class Better : std::uint8_t { kLower, kHigher, kNeither };

struct MetricInfo {
  Metric metric;
  std::string_view name;   // "ttft_ms_p95"
  std::string_view label;  // "TTFT p95"
  std::string_view unit;   // "ms"; empty: a fraction or a count
  Better better;
};

std::span<const MetricInfo> all_metrics();  // in the order of the enumeration
const MetricInfo& info_of(Metric metric);
std::optional<Metric> metric_named(std::string_view name);

}  // namespace inferscale
