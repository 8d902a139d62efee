// What a design study comes to, in words: the candidates to take for goodput, for TTFT and for
// money.

#pragma once

#include <string>
#include <vector>

#include "report/studies/explore/explore_rows.h"

namespace inferscale {

// `rows` are in the order of result.json. Each candidate comes with the --set options that make it.
std::string explore_verdict(JsonFields& result, const std::vector<ExploreRow>& rows);

}  // namespace inferscale
