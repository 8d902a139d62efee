// Everybody gets in: the baseline that every other policy is held against.

#pragma once

#include "admission/registry.h"

namespace inferscale {

const PolicyCard& none_card();
PolicyFactory read_none(ConfigReader& parameters);

}  // namespace inferscale
