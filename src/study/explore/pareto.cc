#include "study/explore/pareto.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace inferscale {

std::vector<bool> pareto_frontier(std::span<const ParetoPoint> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (points[a].loss != points[b].loss) return points[a].loss < points[b].loss;
    return points[a].gain > points[b].gain;
  });

  std::vector<bool> on(points.size(), false);
  bool any_before = false;
  double best_before = -std::numeric_limits<double>::infinity();  // gain at a strictly lower loss
  for (std::size_t begin = 0; begin < order.size();) {
    // Points of one loss: the greatest gain comes first, and only its equals can be on it.
    const ParetoPoint& first = points[order[begin]];
    std::size_t end = begin;
    for (; end < order.size() && points[order[end]].loss == first.loss; ++end) {
      const bool best = points[order[end]].gain == first.gain;
      on[order[end]] = best && (!any_before || first.gain > best_before);
    }
    best_before = any_before ? std::max(best_before, first.gain) : first.gain;
    any_before = true;
    begin = end;
  }
  return on;
}

}  // namespace inferscale
