// Random variates that are the same on every machine: nothing but exact_math and IEEE arithmetic.
//
// The standard library leaves its distributions' algorithms to each implementation, so it isn't
// used here. Every draw takes its numbers from the stream that is handed in.

#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"

namespace inferscale {

// Exponential with mean 1, by inversion: -log(U). Takes one number; at most 36.8.
double draw_exponential(RandomStream& stream);

// Normal with mean 0 and deviation 1, by Marsaglia's polar method (G. Marsaglia and T. A. Bray,
// SIAM Review 6(3) 1964). Makes two values at a time and keeps the second.
class StandardNormal {
 public:
  double draw(RandomStream& stream) {
    if (!has_spare_) return draw_two(stream);
    has_spare_ = false;
    return spare_;
  }

 private:
  // Returns the first and keeps the second.
  double draw_two(RandomStream& stream);

  bool has_spare_ = false;
  double spare_ = 0;
};

// Gamma with mean shape * scale and variance shape * scale^2, by squeeze and rejection
// (G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3)
// 2000); for shape < 1 by Gamma(shape + 1) * U^(1/shape), which may underflow to 0.
class Gamma {
 public:
  // REQUIRES: shape > 0, scale > 0.
  Gamma(double shape, double scale);
  double draw(RandomStream& stream);

 private:
  double scale_;
  double inverse_shape_;  // 0: shape is at least 1, no boost is needed
  double d_;              // the method's constants: shape - 1/3 ...
  double c_;              // ... and 1 / sqrt(9 d)
  StandardNormal normal_;
};

// The exponential of a normal variable, by its own mean and coefficient of variation (deviation
// over mean): sigma^2 = log(1 + cv^2), mu = log(mean) - sigma^2 / 2.
class Lognormal {
 public:
  // REQUIRES: mean > 0, cv >= 0. With cv = 0 every draw is exp(log(mean)).
  Lognormal(double mean, double cv);
  double draw(RandomStream& stream);

 private:
  double mu_;
  double sigma_;
  StandardNormal normal_;
};

// Chooses an index with a probability in proportion to its weight. One number a draw, by binary
// search over the sums of the weights: logarithmic time, and monotone in the number drawn.
class WeightedIndex {
 public:
  // REQUIRES: weights are finite and not negative, their sum is positive and finite.
  explicit WeightedIndex(const std::vector<double>& weights);
  std::size_t draw(RandomStream& stream);

 private:
  std::vector<double> sums_;
};

}  // namespace inferscale
