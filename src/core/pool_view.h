// What an admission policy may know of the pool behind the door.
//
// A view is of one instant and of one attempt: the tenant's and the session's signals are those of
// the attempt that is being decided about. Readings of engines are corrected by what was dispatched
// and what ended since they were observed. A reading that is too old is unknown here.
//
// Cost: a signal of the whole pool takes time linear in the number of replicas.

#pragma once

#include <cstdint>

#include "base/time.h"
#include "core/service_model.h"
#include "core/signal.h"

namespace inferscale {

class PoolView {
 public:
  virtual ~PoolView() = default;
  virtual Instant now() const = 0;
  // Of the whole pool, by the signal's rule over replicas. REQUIRES: the policy declared it.
  virtual Reading read(Signal signal) const = 0;
  virtual std::uint32_t replicas() const = 0;
  // Of one replica. REQUIRES: the policy declared it; the signal is not one of the pool alone.
  virtual Reading read_replica(Signal signal, std::uint32_t replica) const = 0;
  virtual const ServiceModel& service() const = 0;
};

}  // namespace inferscale
