// The result of a sweep over agent sessions as the content of its result.json
// (docs/commands/agents_sweeps.md).

#pragma once

#include "base/json_writer.h"
#include "study/agents/sweep.h"

namespace inferscale {

JsonValue sweep_json(const SweepResult& sweep);

}  // namespace inferscale
