// Searches the best values of a few parameters with a fixed number of tries.
//
// First a coarse grid over all ranges, of about half the tries: it finds the hill. Then one
// parameter after the other, around the best values so far, by golden sections (J. Kiefer,
// "Sequential minimax search for a maximum", Proceedings of the AMS 4(3) 1953): of two values
// inside a bracket the better one's side is kept, which shrinks it to 0.618 of itself. Each
// parameter's bracket begins with the neighbours on the grid and shrinks from round to round; the
// search ends when all tries are used, or no bracket holds anything new.
//
// A hill narrower than the grid's steps may be missed, and of several hills only the grid's best
// is climbed. Of equal scores the first one tried counts.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "study/tune/tune_space.h"

namespace inferscale {

struct TuneTrial {
  std::vector<double> values;   // by dimension
  std::optional<double> score;  // higher is better; nothing: could not be tried
};

struct TuneSearch {
  std::vector<TuneTrial> trials;    // in the order in which they were made, each once
  std::optional<std::size_t> best;  // index of a trial; nothing when none has a score
};

// The scores of some values, in their order: one batch.
using TuneScorer = std::function<Result<std::vector<std::optional<double>>>(
    const std::vector<std::vector<double>>& values)>;

// Tries that a search of so many dimensions takes at least.
std::int64_t least_trials(std::size_t dimensions);

// REQUIRES: there are dimensions; most_trials >= least_trials. Errors are the scorer's.
Result<TuneSearch> search_parameters(std::span<const TuneDimension> dimensions,
                                     std::int64_t most_trials, const TuneScorer& scorer);

}  // namespace inferscale
