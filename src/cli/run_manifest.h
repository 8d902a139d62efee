// manifest.json of a simulated run: what is needed to repeat it, and what followed from it.

#pragma once

#include "base/json_writer.h"
#include "cli/run_loading.h"

namespace inferscale {

JsonValue run_manifest(const LoadedRun& run, bool stepwise, bool complete);

}  // namespace inferscale
