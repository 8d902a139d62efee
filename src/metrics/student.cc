#include "metrics/student.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace inferscale {
namespace {

// The arctangent of x >= 0.
double arctangent(double x) {
  constexpr double kShort = 0.1;
  double factor = 1;
  while (x > kShort) {
    x = x / (1 + std::sqrt(1 + x * x));
    factor *= 2;
  }
  const double square = x * x;
  double power = x;
  double sum = 0;
  constexpr int kTerms = 9;  // 0.1^19 / 19 is below the last bit
  for (int i = 0; i < kTerms; ++i) {
    sum += (i % 2 == 0 ? power : -power) / (2 * i + 1);
    power *= square;
  }
  return factor * sum;
}

double within_even(double sine, double cosine2, int degrees) {
  double term = 1;
  double sum = 1;
  for (int i = 1; i < degrees / 2; ++i) {
    term *= cosine2 * (2 * i - 1) / (2 * i);
    sum += term;
  }
  return sine * sum;
}

double within_odd(double angle, double sine, double cosine2, int degrees) {
  double term = sine * std::sqrt(cosine2);
  double sum = degrees == 1 ? angle : angle + term;
  for (int i = 1; i <= (degrees - 3) / 2; ++i) {
    term *= cosine2 * (2 * i) / (2 * i + 1);
    sum += term;
  }
  return sum * 2 / std::numbers::pi;
}

}  // namespace

double student_within(double t, int degrees) {
  CHECK(t >= 0 && degrees >= 1) << "t " << t << ", degrees " << degrees;
  const double cosine2 = degrees / (degrees + t * t);
  // The sine, without the cancellation of 1 - cosine2 at small t.
  const double sine = std::sqrt(t * t / (degrees + t * t));
  if (degrees % 2 == 0) return within_even(sine, cosine2, degrees);
  return within_odd(arctangent(t / std::sqrt(degrees)), sine, cosine2, degrees);
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
