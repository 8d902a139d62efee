// The grid that is explored when a configuration does not say another one: three continuous
// schedulers by three batch sizes, one cached point, and prefill/decode splits of three shapes with
// cache off and on.
//
// Splits multiply a unit of replicas: 1P:2D of a configuration with 4 replicas is 4 prefill and 8
// decode replicas. Of a configuration that is split itself the unit is its smaller pool.

#pragma once

#include <vector>

#include "base/result.h"
#include "study/explore/design_candidates.h"

namespace inferscale {

// Errors: replicas of different kinds, which the grid's keys would not reach.
Result<std::vector<Candidate>> bounded_grid(const PreparedRun& base);

}  // namespace inferscale
