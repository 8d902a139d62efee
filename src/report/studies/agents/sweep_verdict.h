// What a sweep over agent sessions comes to, in words: what to set and why, in numbers.

#pragma once

#include <string>
#include <vector>

#include "report/studies/agents/sweep_rows.h"

namespace inferscale {

std::string sweep_verdict(JsonFields& result, const SweepWords& words,
                          const std::vector<SweepRowFields>& rows);

}  // namespace inferscale
