// The `hardware` part of `deployment`: the accelerator that a replica runs on.

#pragma once

#include "base/config_reader.h"
#include "catalog/hardware_spec.h"

namespace inferscale {

// A catalogue name, or a map that describes an accelerator.
HardwareSpec read_hardware(ConfigReader& deployment);

}  // namespace inferscale
