// How many tokens a prompt has and an answer gets.
//
// | distribution | a length is |
// |--------------|-------------|
// | constant     | always `tokens` |
// | lognormal    | a log-normal draw of the given mean and coefficient of variation, rounded |
// | empirical    | one of `values`, with a probability in proportion to its weight |
//
// A log-normal draw is rounded to the nearest whole number, and to 1 when that would be 0. Rounding
// changes the mean by less than 0.01 tokens where the mean is at least 10 and cv at most 1; only
// the lift to 1 weighs more, for small means: +0.11 tokens for mean 2, cv 1. Then `min` and `max`
// clamp: what lies outside becomes the bound itself (it is not drawn again), which shifts the mean.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/distributions.h"
#include "base/random.h"

namespace inferscale {

inline constexpr std::uint32_t kMostTokens = 10'000'000;  // in one prompt, or in one answer

struct ConstantLength {
  std::uint32_t tokens = 1;
};

struct LognormalLength {
  double mean = 1;
  double cv = 0;  // deviation over mean, of the draw before rounding and clamping
};

struct EmpiricalLength {
  std::vector<std::uint32_t> values;
  std::vector<double> weights;  // as many as values, or none: all equal
};

struct LengthOptions {
  std::variant<ConstantLength, LognormalLength, EmpiricalLength> shape;
  std::uint32_t min = 1;
  std::uint32_t max = kMostTokens;
};

class LengthSampler {
 public:
  // REQUIRES: 1 <= min <= max <= kMostTokens; mean > 0; values not empty, weights as WeightedIndex
  // takes them.
  LengthSampler(LengthOptions options, RandomStream stream);
  std::uint32_t draw() {
    if (constant_ != 0) return constant_;
    if (next_ == drawn_.size()) draw_ahead();
    return drawn_[next_++];
  }

 private:
  // Nobody else draws from the stream, so some can be drawn at once, twice as many each time: one
  // by one, each would wait for the logarithm and the root of its own.
  void draw_ahead();
  std::uint32_t draw_lognormal();
  std::uint32_t draw_empirical();

  LengthOptions options_;
  RandomStream stream_;
  std::uint32_t constant_ = 0;  // 0: not constant
  std::optional<Lognormal> lognormal_;
  std::optional<WeightedIndex> index_;
  std::array<std::uint32_t, 32> drawn_{};
  std::size_t next_ = drawn_.size();
  std::size_t ahead_ = 1;
};

}  // namespace inferscale
