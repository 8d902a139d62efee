// What a reader must know of what was found, in sentences.

#pragma once

#include <string>
#include <vector>

#include "study/tune/tune.h"

namespace inferscale {

std::vector<std::string> tune_notes(const TuneResult& result);

// Trials whose score is within options.as_good of the best one's, in order of their values.
std::vector<TuneTrial> as_good_trials(const TuneResult& result);

}  // namespace inferscale
