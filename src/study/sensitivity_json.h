// The result of a sensitivity study as result.json holds it (docs/commands/sensitivity.md).

#pragma once

#include "base/json_writer.h"
#include "study/alternatives.h"
#include "study/sensitivity.h"

namespace inferscale {

JsonValue sensitivity_json(const SensitivityResult& result, const Alternatives& alternatives);

}  // namespace inferscale
