// The result.json of a search for the capacity; docs/commands/capacity.md says what each key is.

#pragma once

#include "base/json_writer.h"
#include "study/capacity/capacity.h"

namespace inferscale {

// "rate", "trace_rate_scale", "replicas".
std::string_view search_name(CapacitySearch search);

JsonValue capacity_json(const CapacityResult& result);

}  // namespace inferscale
