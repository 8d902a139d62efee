#include "admission/policies/latency_measure.h"

#include <algorithm>

namespace inferscale {

std::optional<double> measure_latency(LatencyMeasure measure, const RequestView& request,
                                      const AttemptEnd& end, const ServiceModel& model) {
  if (end.end != PermitEnd::kFinished || end.first_token == Instant::never()) return std::nullopt;
  const Instant from = end.dispatched_at == Instant::never() ? end.admitted_at : end.dispatched_at;
  const double ttft_s = (end.first_token - from).seconds();
  if (measure == LatencyMeasure::kTtft) return ttft_s;
  const double alone_s = 1e-9 * model.prefill_ns(request.tokens_to_compute());
  if (measure == LatencyMeasure::kQueueing) return std::max(0.0, ttft_s - alone_s);
  if (!(alone_s > 0)) return std::nullopt;
  return ttft_s / alone_s;
}

}  // namespace inferscale
