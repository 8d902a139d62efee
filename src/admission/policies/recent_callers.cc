#include "admission/policies/recent_callers.h"

#include "base/check.h"

namespace inferscale {

RecentCallers::RecentCallers(std::int64_t most) : most_(static_cast<std::size_t>(most)) {
  CHECK(most >= 1) << "no room for a caller: " << most;
}

RecentCallers::Seat RecentCallers::see(CallerKey caller) {
  const RecentKeys::Place known = callers_.find(caller);
  if (known != RecentKeys::kNone) {
    callers_.touch(known);
    return {.place = known, .is_new = false};
  }
  if (callers_.size() == most_) callers_.erase(callers_.oldest());
  return {.place = callers_.add(caller, 0), .is_new = true};
}

}  // namespace inferscale
