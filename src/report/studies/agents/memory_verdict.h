// What a sweep over the KV cache's size comes to: the smallest budget that serves as well as no
// limit, beside the peak and the memory that the deployment has.

#pragma once

#include <string>

#include "report/studies/agents/verdict_parts.h"

namespace inferscale {

std::string memory_verdict(JsonFields& result, const SweepWords& words, const Rows& rows);

}  // namespace inferscale
