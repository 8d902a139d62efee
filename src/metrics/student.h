// Quantiles of Student's t distribution, the same bits on every machine.
//
// Both kinds of degrees of freedom n have a finite sum (Abramowitz and Stegun, "Handbook of
// Mathematical Functions", 26.7.3 and 26.7.4). With a = arctan(t / sqrt n) and c = cos(a)^2 =
// n / (n + t^2),
//
//   even n:  P(|T| <= t) = sin a (1 + c/2 + (1 3)/(2 4) c^2 + ... up to the power n/2 - 1)
//   odd n:   P(|T| <= t) = 2/pi (a + sin a cos a (1 + (2/3) c + (2 4)/(3 5) c^2 + ...
//                                                 up to the power (n - 3)/2)),   n = 1: 2/pi a
//
// so that neither a table nor a library's special functions are needed, but for the arctangent of
// odd n: it is halved, arctan x = 2 arctan(x / (1 + sqrt(1 + x^2))), until its series is short.

#pragma once

namespace inferscale {

// The t that |T| stays below with probability `confidence`, to a relative 1e-12.
// REQUIRES: 0 < confidence < 1, degrees at least 1.
double student_two_sided(double confidence, int degrees);

// P(|T| <= t). REQUIRES: t >= 0, degrees at least 1.
double student_within(double t, int degrees);

}  // namespace inferscale
