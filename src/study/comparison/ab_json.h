// The result of a paired comparison as result.json holds it (docs/commands/ab.md).

#pragma once

#include "base/json_writer.h"
#include "study/comparison/ab.h"
#include "study/comparison/alternatives.h"

namespace inferscale {

JsonValue ab_json(const AbResult& result, const Alternatives& alternatives);

}  // namespace inferscale
