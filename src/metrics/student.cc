#include "metrics/student.h"

#include <cmath>

#include "base/check.h"

namespace inferscale {

double student_within(double t, int degrees) {
  CHECK(t >= 0 && degrees >= 2 && degrees % 2 == 0) << "t " << t << ", degrees " << degrees;
  const double cos2 = degrees / (degrees + t * t);
  double term = 1;
  double sum = 1;
  for (int i = 1; i < degrees / 2; ++i) {
    term *= cos2 * (2 * i - 1) / (2 * i);
    sum += term;
  }
  // The sine, without the cancellation of 1 - cos2 at small t.
  return std::sqrt(t * t / (degrees + t * t)) * sum;
}

double student_two_sided(double confidence, int degrees) {
  CHECK(confidence > 0 && confidence < 1) << "confidence " << confidence;
  double high = 1;
  while (student_within(high, degrees) < confidence) high *= 2;
  double low = 0;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (student_within(middle, degrees) < confidence ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace inferscale
