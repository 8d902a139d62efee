// Where the readings of a router come from whose owner can read any replica at any instant.
//
// The owner need not read everybody for each choice. It may leave with the router a reading that is
// a lower bound, one whose load is not above that of the present state, as long as it holds; the
// router asks for the present state of those replicas only that could be chosen by it.

#pragma once

#include <cstdint>
#include <limits>

#include "core/request.h"

namespace inferscale {

struct TokenBounds {
  TokenCount least = 0;
  TokenCount most = std::numeric_limits<TokenCount>::max();
};

class LoadSource {
 public:
  virtual ~LoadSource() = default;
  // Has the router observe() the present state of the replica, unless the last reading that it
  // observed is as good. True: it was not, and the replica's load may be greater now.
  virtual bool see(std::uint32_t replica) = 0;
  // The same at less cost, where that finds a greater lower bound. False: it does not, and nothing
  // was observed.
  virtual bool raise(std::uint32_t replica) {
    (void)replica;
    return false;
  }
  // Between which the replica's present tokens in flight are, at little cost; nothing is observed.
  virtual TokenBounds bounds(std::uint32_t replica) {
    (void)replica;
    return {};
  }
  // Something was dispatched to the replica or ended there: what the router has observed of it is
  // to be made a lower bound again before the next choice.
  virtual void changed(std::uint32_t replica) { (void)replica; }
};

}  // namespace inferscale
