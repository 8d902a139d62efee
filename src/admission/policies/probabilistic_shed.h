// Sheds at random, with a fixed probability or one that grows with a signal.
//
//   p       =  probability,  or  probability x clamp((signal - low) / (high - low), 0, 1)
//   reject <=>  u < p,  where u in (0, 1) is a hash of (seed, request, attempt)
//
// It thins the load evenly over callers, and without the on and off of a threshold. An attempt
// draws the same number whenever it is decided about. A signal that is unknown sheds nobody.

#pragma once

#include <optional>

#include "admission/registry.h"

namespace inferscale {

struct ProbabilisticShedOptions {
  double probability = 0.1;      // with a signal: at `high` and above
  std::optional<Signal> signal;  // not set: the probability is fixed
  double low = 0;                // below it nobody is shed
  double high = 1;
};

const PolicyCard& probabilistic_shed_card();
PolicyFactory read_probabilistic_shed(ConfigReader& parameters);

}  // namespace inferscale
