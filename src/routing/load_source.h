// Where the readings of a router come from whose owner can read any replica at any instant.
//
// The owner need not read everybody for each choice. It may leave with the router a reading that is
// a lower bound, one whose load is not above that of the present state, as long as it holds; the
// router asks for the present state of those replicas only that could be chosen by it.

#pragma once

#include <cstdint>

namespace inferscale {

class LoadSource {
 public:
  virtual ~LoadSource() = default;
  // Has the router observe() the present state of the replica, unless the last reading that it
  // observed is as good. True: it was not, and the replica's load may be greater now.
  virtual bool see(std::uint32_t replica) = 0;
};

}  // namespace inferscale
