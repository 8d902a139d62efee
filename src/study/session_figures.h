// The figures of agent programs among those of a run.

#pragma once

#include "metrics/session_summary.h"
#include "study/run_figures.h"

namespace inferscale {

// Sets the figures that such a run has. A latency of no turn, a rate of nothing and attainment
// without targets stay as they are: nothing.
void set_session_figures(const SessionSummary& summary, const SessionFacts& facts,
                         RunFigures& figures);

}  // namespace inferscale
