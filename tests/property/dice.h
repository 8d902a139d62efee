// Random choices for scenarios, all from one named stream of a seed.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/distributions.h"
#include "base/exact_math.h"
#include "base/random.h"

namespace inferscale {

class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view name) : stream_(seed, name) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(stream_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(double p) { return stream_.uniform() < p; }
  // Uniform on a logarithmic scale.
  double log_between(double low, double high) {
    return exact_exp(exact_log(low) + stream_.uniform() * (exact_log(high) - exact_log(low)));
  }
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[stream_.below(choices.size())];
  }
  double exponential() { return draw_exponential(stream_); }

 private:
  RandomStream stream_;
};

}  // namespace inferscale
