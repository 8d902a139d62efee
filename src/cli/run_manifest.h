// manifest.json of a simulated run: what is needed to repeat it, and what followed from it.

#pragma once

#include <span>
#include <string>

#include "base/json_writer.h"
#include "study/prepared_run.h"

namespace inferscale {

JsonValue run_manifest(const PreparedRun& run, std::span<const std::string> warnings, bool stepwise,
                       bool complete);

}  // namespace inferscale
