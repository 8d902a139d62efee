// The result of a sensitivity study as result.json holds it (docs/commands/sensitivity.md).

#pragma once

#include "base/json_writer.h"
#include "study/comparison/alternatives.h"
#include "study/comparison/sensitivity.h"

namespace inferscale {

JsonValue sensitivity_json(const SensitivityResult& result, const Alternatives& alternatives);

}  // namespace inferscale
