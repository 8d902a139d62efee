// The time of tools and people in a session.

#pragma once

#include <vector>

#include "base/time.h"
#include "workload/programs/programs.h"

namespace inferscale {

// How long each session lasts if every answer takes no time: its longest path of gaps and delays.
// Cost: linear. REQUIRES: broken_structure() is null.
std::vector<Duration> session_gaps(const Programs& programs);

}  // namespace inferscale
