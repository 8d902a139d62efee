// Which of many points no other beats: the frontier of a gain against a loss.
//
// A point is dominated when another has at least its gain and no greater loss, and one of the two
// is strictly better. Equal points do not dominate each other.

#pragma once

#include <span>
#include <vector>

namespace inferscale {

struct ParetoPoint {
  double gain = 0;  // more is better
  double loss = 0;  // less is better
};

// For each point whether it is on the frontier, that is, not dominated. O(n log n).
// REQUIRES: no NaN.
std::vector<bool> pareto_frontier(std::span<const ParetoPoint> points);

}  // namespace inferscale
