// Admits whoever can have its first token in time, knowing how long every answer is going to be: in
// simulation only. What it reaches is what better predictions could be worth, at most.
//
// It keeps the instants at which the requests in flight leave their places, and the instant up to
// which the replicas are busy with prompts, both by the service estimate:
//
//   start  = the later of both: when a place is free (of N, batch_places.h), when the prompts
//            before are done
//   admit <=> start + prefill <= deadline
//   leaves = start + prefill + output tokens (gamma + beta n)
//
// Those that would be late are rejected: they would only make others late. It hopes for no luck,
// and the engine's own order (prompts before answers, or mixed) is not looked at.

#pragma once

#include "admission/registry.h"

namespace inferscale {

const PolicyCard& oracle_deadline_card();
PolicyFactory read_oracle_deadline(ConfigReader& parameters);

}  // namespace inferscale
