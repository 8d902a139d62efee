// What it takes to move activations between accelerators.
//
// A group of n accelerators has g of them in each node, so it spans ceil(n / g) = m nodes. Inside a
// node accelerators send at bandwidth B with latency L; between nodes each has b and l
// (HardwareSpec). Times of a message of x bytes for each accelerator:
//
//   all-reduce  L + 2 (g - 1)/g x/B                     a ring in each node (Thakur et al. 2005),
//               + 2 (m - 1) (l + x/(g m b))             which leaves each accelerator x/g bytes to
//                                                       sum over a ring of the m nodes
//   all-to-all  max(L, l) + max(c (g - 1)/g x/B, d (m - 1)/m x/b)
//               each accelerator's x bytes go to c accelerators on d nodes: once to each node, and
//               on from there over its links while others cross the network. With c = d = 1 each
//               byte goes to one place, as in a plain all-to-all. In one node only L and B count
//   hop         L + x/B, or l + x/b to another node
//
// L is the time of the smallest whole collective of a node, as measured; it hardly grows with g.

#pragma once

#include <cstdint>

#include "catalog/hardware_spec.h"

namespace inferscale {

// fixed + per_byte x bytes.
struct TransferCost {
  double fixed_ns = 0;
  double ns_per_byte = 0;
};

// How a group lies over nodes. REQUIRES: 1 <= in_node <= accelerators.
struct GroupPlacement {
  std::int64_t accelerators = 1;
  std::int64_t in_node = 1;

  std::int64_t nodes() const { return (accelerators + in_node - 1) / in_node; }
};

// Free for a group of one. REQUIRES: links (and a network, for more than one node) of a bandwidth
// above 0.
TransferCost all_reduce(const HardwareSpec& hardware, const GroupPlacement& group);
// `accelerators` and `nodes`: c and d, the places that a byte goes to in expectation, its own
// accelerator and node among them.
TransferCost all_to_all(const HardwareSpec& hardware, const GroupPlacement& group,
                        double accelerators, double nodes);
TransferCost link_hop(const HardwareSpec& hardware);
TransferCost node_hop(const HardwareSpec& hardware);

}  // namespace inferscale
