// Quantiles of Student's t distribution, the same bits on every machine.
//
// With an even number of degrees of freedom n the distribution is a finite sum of square roots and
// products (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.4): with
// c = n / (n + t^2), the squared cosine of arctan(t / sqrt n),
//
//   P(|T| <= t) = sqrt(1 - c) (1 + c/2 + (1 3)/(2 4) c^2 + ... up to the power n/2 - 1),
//
// so that neither a table nor a library's special functions are needed. Whoever wants a quantile
// chooses an even number, which costs nothing where the number of batches is free.

#pragma once

namespace inferscale {

// The t that |T| stays below with probability `confidence`, to a relative 1e-12.
// REQUIRES: 0 < confidence < 1, degrees even and at least 2.
double student_two_sided(double confidence, int degrees);

// P(|T| <= t). REQUIRES: t >= 0, degrees even and at least 2.
double student_within(double t, int degrees);

}  // namespace inferscale
