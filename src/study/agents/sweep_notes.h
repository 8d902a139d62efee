// What a reader of a sweep must know before quoting it.

#pragma once

#include <string>
#include <vector>

#include "study/agents/sweep.h"

namespace inferscale {

// Sentences. `base` is the run as it is configured.
std::vector<std::string> sweep_notes(const SweepResult& sweep, const PreparedRun& base);

}  // namespace inferscale
