// The table of a sweep over agent sessions: a row for each point that was simulated.

#pragma once

#include <string>
#include <vector>

#include "report/studies/agents/sweep_rows.h"

namespace inferscale {

// Below it a line that explains the columns.
std::string sweep_table(const SweepWords& words, const std::vector<SweepRowFields>& rows);

}  // namespace inferscale
