// What two configurations are compared by: the figures of requests, or, where both serve agent
// sessions, those of turns and sessions.
//
// A request that follows another one has no place in the figures of requests when that one failed;
// of sessions the shares that met the SLO count all turns of the programs that began.

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "study/metric.h"
#include "study/scenario.h"

namespace inferscale {

enum class ComparedWork : std::uint8_t { kRequests, kSessions };

ComparedWork compared_work(const Scenario& baseline, const Scenario& treatment);

// Of one kind each: a latency of many turns or requests, the share that met the SLO, and how long
// the whole took.
using HeadlineMetrics = std::array<Metric, 3>;

// What the overall verdict and the number of repetitions of a paired comparison rest on.
const HeadlineMetrics& headline_metrics(ComparedWork work);
// All that it judges, the headline first.
std::span<const Metric> judged_metrics(ComparedWork work);

}  // namespace inferscale
