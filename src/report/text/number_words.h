// Numbers as the texts of a run write them.

#pragma once

#include <string>

namespace inferscale {

// "12.3 %". Never rounds to "all" what is not all, nor to "none" what is some.
std::string percent(double fraction);

}  // namespace inferscale
