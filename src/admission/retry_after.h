// When a deferred caller should come again: reckoned from the pool's state.
//
// With W requests ahead (waiting in the engines, held, or told to come again and not due), R
// replicas that each run n of those in flight, and answers of O predicted tokens on the average:
//
//   wait = (W + 1) / mu,   mu = R n / (O x (gamma + beta n) + prefill of a mean prompt)
//
// by the service model (core/service_model.h). Without one it is not known: the least wait is told.
// Each answer's wait is spread by a factor drawn for (request, attempt), so that those who were
// turned away together do not come again together.

#pragma once

#include <optional>

#include "admission/gate_options.h"
#include "admission/ledger.h"
#include "core/service_model.h"

namespace inferscale {

// Nothing when the service model can't say.
std::optional<Duration> predicted_wait(const Ledger& ledger, std::int64_t ahead,
                                       const ServiceModel& service);

// The wait as it is told: jittered, between the least and the most.
Duration spread_wait(Duration wait, const RetryAfterLimits& options, std::uint64_t seed,
                     const RequestView& request);

}  // namespace inferscale
