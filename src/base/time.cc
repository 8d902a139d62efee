#include "base/time.h"

#include "base/check.h"

namespace inferscale {

void VirtualClock::advance_to(Instant to) {
  CHECK(to >= now_) << "virtual time would fall from " << now_.ns() << " to " << to.ns() << " ns";
  now_ = to;
}

}  // namespace inferscale
