// Which points of a sweep no other beats, and which is recommended (sweep.h says by what rule).

#pragma once

#include "study/agents/sweep.h"

namespace inferscale {

// Fills in on_frontier of the rows, least_ttft, recommended, within_slo and crossovers.
void choose_points(SweepResult& sweep);

}  // namespace inferscale
