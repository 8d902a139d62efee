// Where requests come from: one after the other, in the order of arrival.

#pragma once

#include <cstdint>

#include "core/request.h"

namespace inferscale {

// An open-loop stream of requests: it never waits for the system that serves them.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  // Fills `request` with the next arrival; ids are 0, 1, 2, ... and arrivals never go back in time.
  // Returns false at the end, and from then on.
  virtual bool next(Request& request) = 0;
  // How many requests there are in all.
  virtual std::uint64_t size() const = 0;
};

}  // namespace inferscale
