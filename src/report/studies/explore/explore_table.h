// The table of a design study's candidates: the keys in which they differ, their figures, the
// frontiers that they are on.

#pragma once

#include <string>
#include <vector>

#include "report/studies/explore/explore_rows.h"

namespace inferscale {

// `sorted` is by_goodput()'s; rows are numbered in its order. Of many candidates
// the first are shown, and of the others some that are on a frontier. Below it a line that explains
// the marks.
std::string explore_table(JsonFields& result, const std::vector<ExploreRow>& sorted);

}  // namespace inferscale
