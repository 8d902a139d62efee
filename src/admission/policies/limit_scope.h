// Parameters that many policies have alike: whose a limit is (`per`), and what becomes of those
// that are over it (`then`).

#pragma once

#include <cstdint>
#include <string_view>

#include "admission/policy.h"
#include "base/config_reader.h"
#include "core/decision.h"
#include "core/request_view.h"

namespace inferscale {

// Whose a limit is.
enum class LimitScope : std::uint8_t {
  kPool,     // of all callers together
  kTenant,   // of each tenant
  kSession,  // of each session
};
// The key `per`. `what` is limited: "requests in the window".
LimitScope read_limit_scope(ConfigReader& parameters, LimitScope fallback, std::string_view what);
// What is counted under the same key counts against the same limit. Those without a tenant (a
// session) are one caller together.
CallerKey caller_in(LimitScope scope, const RequestView& request);
// What the scope needs of requests.
RequestNeeds needs_of(LimitScope scope);

inline constexpr std::int64_t kMostCallers = 100'000;
// The key `most_callers`: how many of them are remembered.
std::int64_t read_most_callers(ConfigReader& parameters);

// The key `then`. True: they are deferred; else they are rejected.
bool read_defers(ConfigReader& parameters);
Decision refuse(bool defers, Reason reason);

}  // namespace inferscale
