// The candidates of a design study, looked at before any of them is run.
//
// Each is derived: what is written wrong is an error then and there, what does not fit together is
// left for its run to say, and what a derivation has to say becomes a note.

#pragma once

#include "base/result.h"
#include "study/explore/design_candidates.h"
#include "study/scenario.h"

namespace inferscale {

// Errors: no SLO to compare by, too many candidates, a setting that is written wrong (it can be
// read neither alone, on top of the configuration, nor in any candidate), no candidate that can be
// read.
Result<CandidateList> checked_candidates(const Scenario& scenario);

}  // namespace inferscale
