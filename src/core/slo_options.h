// The `slo` part of a configuration.

#pragma once

#include "base/config_reader.h"
#include "core/slo.h"

namespace inferscale {

// Targets in milliseconds; a target that is null or left out is not judged.
Slo read_slo(ConfigReader& root);

}  // namespace inferscale
