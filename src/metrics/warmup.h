// Where a run's warm-up ends, found from its own values.
//
// MSER-5 (K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state truncation
// heuristics for simulation", Winter Simulation Conference 2000): the values, in order, become
// means Y_1 ... Y_n of five each, a rest at the end left out. Cutting off the first d leaves a mean
// whose estimated variance, as if the values were independent, is in proportion to
//
//   MSER(d) = sum (Y_i - Y)^2 / (n - d)^2      over i > d, Y their mean:
//
// a start that is far from the rest makes the sum large, a cut of what is like the rest makes n - d
// small. The warm-up ends where MSER is least. A least value in the second half says that the run
// has no such end: it is too short, or goes on changing.

#pragma once

#include <cstddef>
#include <optional>

#include "metrics/quantiles.h"

namespace inferscale {

// How many values at the beginning to leave out; nothing when no end is found, or of fewer than 50
// values. Cost: reads the stream once; memory for a fifth of the values.
std::optional<std::size_t> mser5(ValueStream& values);

}  // namespace inferscale
