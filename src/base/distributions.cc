#include "base/distributions.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/exact_math.h"

namespace inferscale {

double draw_exponential(RandomStream& stream) {
  return -exact_log(stream.uniform());
}

double StandardNormal::draw_two(RandomStream& stream) {
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * stream.uniform() - 1;
    y = 2 * stream.uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * exact_log(square) / square);
  has_spare_ = true;
  spare_ = y * factor;
  return x * factor;
}

Gamma::Gamma(double shape, double scale)
    : scale_(scale),
      inverse_shape_(shape < 1 ? 1 / shape : 0),
      d_((shape < 1 ? shape + 1 : shape) - 1.0 / 3),
      c_(1 / std::sqrt(9 * d_)) {
  CHECK(shape > 0 && scale > 0) << "shape " << shape << ", scale " << scale;
}

double Gamma::draw(RandomStream& stream) {
  double cube = 0;
  for (;;) {
    const double x = normal_.draw(stream);
    const double root = 1 + c_ * x;
    if (root <= 0) continue;
    cube = root * root * root;
    const double u = stream.uniform();
    const double square = x * x;
    if (u < 1 - 0.0331 * square * square) break;  // the squeeze, from the paper
    if (exact_log(u) < 0.5 * square + d_ * (1 - cube + exact_log(cube))) break;
  }
  const double value = d_ * cube * scale_;
  return inverse_shape_ == 0 ? value : value * exact_pow(stream.uniform(), inverse_shape_);
}

Lognormal::Lognormal(double mean, double cv) {
  CHECK(mean > 0 && cv >= 0) << "mean " << mean << ", cv " << cv;
  const double variance = exact_log(1 + cv * cv);
  sigma_ = std::sqrt(variance);
  mu_ = exact_log(mean) - variance / 2;
}

double Lognormal::draw(RandomStream& stream) {
  return exact_exp(mu_ + sigma_ * normal_.draw(stream));
}

WeightedIndex::WeightedIndex(const std::vector<double>& weights) {
  double sum = 0;
  for (double weight : weights) {
    CHECK(weight >= 0 && std::isfinite(weight)) << "weight " << weight;
    sum += weight;
    sums_.push_back(sum);
  }
  CHECK(sum > 0 && std::isfinite(sum)) << "the weights sum to " << sum;
}

std::size_t WeightedIndex::draw(RandomStream& stream) {
  const double point = stream.uniform() * sums_.back();
  // The first sum above the point, so that an index of weight 0 is never chosen. Rounding may lift
  // the point to the total; it then belongs to the last index that has a weight.
  auto found = std::upper_bound(sums_.begin(), sums_.end(), point);
  if (found == sums_.end()) found = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
  return static_cast<std::size_t>(found - sums_.begin());
}

}  // namespace inferscale
