// What a concurrency controller takes for latency: measured once for each outcome.
//
//   ttft      from the dispatch to the first token
//   queueing  of that, what is more than the prompt takes alone by the service estimate
//   slowdown  their ratio: what it took for each second that it takes alone
//
// Prompts of agents differ a thousandfold, so that a plain TTFT says as much about the prompt as
// about the pool; the other two take the prompt out.

#pragma once

#include <cstdint>
#include <optional>

#include "admission/policy.h"

namespace inferscale {

enum class LatencyMeasure : std::uint8_t { kTtft, kQueueing, kSlowdown };

// In seconds, or a ratio. Nothing where there was no first token (an answer that was not streamed,
// a failure).
std::optional<double> measure_latency(LatencyMeasure measure, const RequestView& request,
                                      const AttemptEnd& end, const ServiceModel& model);

}  // namespace inferscale
