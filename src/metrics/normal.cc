#include "metrics/normal.h"

#include "base/check.h"
#include "base/exact_math.h"

namespace inferscale {
namespace {

constexpr double kDensityAtZero = 0.39894228040143267794;  // 1 / sqrt(2 pi)

}  // namespace

double normal_above(double z) {
  CHECK(z >= 0) << "z " << z;
  const double density = kDensityAtZero * exact_exp(-0.5 * z * z);
  if (z >= 4) {
    constexpr int kLevels = 60;
    double below = z;
    for (int i = kLevels; i > 0; --i) below = z + i / below;
    return density / below;
  }
  double term = z;
  double sum = z;
  constexpr double kNegligible = 1e-18;
  for (int odd = 3; term > kNegligible * sum; odd += 2) {
    term *= z * z / odd;
    sum += term;
  }
  return 0.5 - density * sum;
}

}  // namespace inferscale
