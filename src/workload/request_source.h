// Where requests come from: one after the other, in the order of arrival.

#pragma once

#include <cstdint>

#include "core/request.h"

namespace inferscale {

class ReactiveSource;

// A stream of requests. Unless it is reactive (reactive_source.h) it is open loop: it never waits
// for the system that serves them.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  // This, when it waits for the system; else null.
  virtual ReactiveSource* reactive() { return nullptr; }
  // Fills `request` with the next arrival; ids are 0, 1, 2, ... and arrivals never go back in time.
  // Returns false at the end, and from then on.
  virtual bool next(Request& request) = 0;
  // How many requests there are in all; of a reactive source, without those that are tried again.
  virtual std::uint64_t size() const = 0;
};

}  // namespace inferscale
