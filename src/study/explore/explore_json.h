// A design study's result.json (docs/commands/explore.md).

#pragma once

#include "base/json_writer.h"
#include "study/explore/explore.h"

namespace inferscale {

JsonValue explore_json(const ExploreResult& result);

}  // namespace inferscale
