// Targets as the texts of a run write them.

#pragma once

#include <string>

#include "core/slo.h"

namespace inferscale {

// "TTFT <= 500 ms, each request's p95 ITL <= 50 ms"; empty where none is set.
std::string target_text(const Slo& slo);

}  // namespace inferscale
