// What a search for a policy's parameters found, as result.json has it (docs/commands/tune.md).

#pragma once

#include "base/json_writer.h"
#include "study/tune/tune.h"

namespace inferscale {

JsonValue tune_json(const TuneResult& result);

}  // namespace inferscale
