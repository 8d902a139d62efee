#include "routing/in_flight.h"

#include "base/check.h"

namespace inferscale {

void InFlight::add(RequestId id, const DispatchedRequest& request) {
  std::uint32_t place = static_cast<std::uint32_t>(requests_.size());
  if (unused_.empty()) {
    requests_.push_back(request);
  } else {
    place = unused_.back();
    unused_.pop_back();
    requests_[place] = request;
  }
  places_.insert(id, place);
}

DispatchedRequest InFlight::take(RequestId id) {
  const std::uint32_t place = places_.find(id);
  CHECK(place != KeyTable::kNone) << "request " << id << " ended without having been dispatched";
  places_.erase(id);
  unused_.push_back(place);
  return requests_[place];
}

}  // namespace inferscale
