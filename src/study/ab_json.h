// The result of a paired comparison as result.json holds it (docs/commands/ab.md).

#pragma once

#include "base/json_writer.h"
#include "study/ab.h"
#include "study/alternatives.h"

namespace inferscale {

JsonValue ab_json(const AbResult& result, const Alternatives& alternatives);

}  // namespace inferscale
