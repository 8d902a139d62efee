// Rejects at random as many as another policy refuses: the control that shows whether it mattered
// which requests that policy refused, or only how many.
//
//   reject  <=>  u < rate,  where u in (0, 1) is a hash of (seed, request, attempt)
//
// The rate is the other policy's measured one, on the same arrivals. It is written down, or filled
// in by whoever runs both (`of: NAME`). An attempt draws the same number in any order of arrivals.

#pragma once

#include "admission/registry.h"

namespace inferscale {

const PolicyCard& equal_volume_shed_card();
// With `of` and without `rate` an error: the rate has to be measured first.
PolicyFactory read_equal_volume_shed(ConfigReader& parameters);
// For who measured the rate. REQUIRES: 0 <= rate <= 1.
PolicyFactory equal_volume_shed(double rate);

}  // namespace inferscale
