// Tells the decision trace why a replica was chosen.

#include "sim/fleet_run.h"

namespace inferscale {

void FleetRun::tell_choice(Pool& pool, const Request& request, Instant now) const {
  constexpr std::size_t kMostChoices = 4;  // the chosen one and the next best
  std::vector<RouteReport::Choice> choices;
  for (const RouteScore& one : pool.explain(request, kMostChoices)) {
    choices.push_back({.replica = pool.begin() + one.replica, .score = one.score});
  }
  options_.observer->on_route({.at = now,
                               .request = request.id,
                               .pool = &pool == decode_.get() ? "decode" : "front",
                               .meaning = pool.score_meaning(),
                               .choices = choices});
}

}  // namespace inferscale
