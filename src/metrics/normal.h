// Tail of the normal distribution, the same bits on every machine.
//
// With the density f(z) = exp(-z^2 / 2) / sqrt(2 pi), below 4 by the series
//
//   P(Z > z) = 1/2 - f(z) (z + z^3/3 + z^5/(3 5) + ...)
//
// (G. Marsaglia, "Evaluating the normal distribution", J. of Statistical Software 11(4) 2004), and
// from there, where it would cancel, by the continued fraction
//
//   P(Z > z) = f(z) / (z + 1/(z + 2/(z + 3/(z + ...))))
//
// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.14).

#pragma once

namespace inferscale {

// P(Z > z), to a relative 1e-10. REQUIRES: z >= 0.
double normal_above(double z);

}  // namespace inferscale
