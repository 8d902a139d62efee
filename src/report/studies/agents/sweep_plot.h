// A sweep over agent sessions as a plot: p95 turn TTFT against what a point takes, or the shares
// that a budget for memory leaves.

#pragma once

#include <string>
#include <vector>

#include "report/studies/agents/sweep_rows.h"
#include "report/text/sparkline.h"

namespace inferscale {

// Empty when fewer than two points can be drawn.
std::string sweep_plot(const SweepWords& words, const std::vector<SweepRowFields>& rows,
                       PlotGlyphs glyphs);

}  // namespace inferscale
