// Nobody gets in: to close a door, and to see what a path costs that never reaches an engine.

#pragma once

#include "admission/registry.h"

namespace inferscale {

const PolicyCard& reject_all_card();
PolicyFactory read_reject_all(ConfigReader& parameters);

}  // namespace inferscale
