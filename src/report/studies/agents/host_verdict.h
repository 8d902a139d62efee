// What a sweep over strategies for idle KV comes to beside its recommendation: what another
// bandwidth of host memory would change, from which one on offload wins, what keeping idle KV in
// HBM takes.

#pragma once

#include <string>

#include "report/studies/agents/verdict_parts.h"

namespace inferscale {

std::string host_verdict(JsonFields& result, const Rows& rows);

}  // namespace inferscale
