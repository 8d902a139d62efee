#include "workload/clients/caller_limits.h"

#include <algorithm>

namespace inferscale {

bool CallerLimits::is_full(std::size_t caller) const {
  return room(caller) == 0;
}

void CallerLimits::answered(std::size_t caller) {
  State& own = state(caller);
  if (own.limit != kNone) ++own.limit;
}

void CallerLimits::refused_by_429(std::size_t caller, Instant presented, Instant now) {
  State& own = state(caller);
  if (presented <= own.halved) return;
  own.limit = std::max(1U, own.in_flight / 2);
  own.halved = now;
}

std::uint32_t CallerLimits::room(std::size_t caller) const {
  if (caller >= states_.size()) return kNone;
  const State& own = states_[caller];
  return own.limit > own.in_flight ? own.limit - own.in_flight : 0;
}

std::optional<CallerLimits::Waiting> CallerLimits::take_waiting(std::size_t caller) {
  State& own = state(caller);
  if (own.waiting.empty()) return std::nullopt;
  const Waiting first = *own.waiting.begin();
  own.waiting.erase(own.waiting.begin());
  return first;
}

std::vector<CallerLimits::Waiting> CallerLimits::clear(std::size_t caller) {
  State& own = state(caller);
  std::vector<Waiting> all(own.waiting.begin(), own.waiting.end());
  own.waiting.clear();
  return all;
}

}  // namespace inferscale
