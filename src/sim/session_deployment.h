// What agent sessions need of a deployment, and what it keeps for them.

#pragma once

#include "base/result.h"
#include "sim/deployment.h"
#include "sim/run_config.h"

namespace inferscale {

// Gives the replicas of `kind`, which are `group`'s, the retention that sessions have. Errors: what
// does not go with sessions, or not without them. `first`: the kind of the first group, null for
// that itself.
Result<void> fit_sessions(const RunConfig& config, const GroupConfig& group,
                          const Deployment* first, Deployment& kind);

}  // namespace inferscale
