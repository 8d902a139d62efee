// At most `requests` admissions of a caller in any `window_s`.
//
//   refuse  <=>  |{admissions at t : now - window_s < t <= now}| >= requests
//
// The window slides: it is judged over the exact instants of admissions, so no span of window_s
// ever holds more than `requests` of them. (A window that tumbles from one minute to the next lets
// twice as many through around the turn.) Refused attempts count nothing.
//
// Memory: at most `requests` instants a caller, for at most `most_callers` callers. Decisions take
// constant time, averaged over a caller's admissions.

#pragma once

#include <cstdint>

#include "admission/policies/limit_scope.h"
#include "admission/registry.h"

namespace inferscale {

struct RateLimitOptions {
  std::int64_t requests = 60;
  double window_s = 60;
  LimitScope per = LimitScope::kTenant;
  std::int64_t most_callers = kMostCallers;
  bool defers = false;  // else it rejects
};

const PolicyCard& rate_limit_card();
PolicyFactory read_rate_limit(ConfigReader& parameters);

}  // namespace inferscale
