// The part of a configuration that says how a model is laid over accelerators: `parallel` and
// `precision` of `deployment`. `hardware` has a reader of its own (hardware_options.h).

#pragma once

#include "base/config_reader.h"
#include "catalog/deployment_shape.h"
#include "catalog/hardware_options.h"
#include "catalog/hardware_spec.h"
#include "catalog/model_spec.h"

namespace inferscale {

// `parallel` and `precision`, checked against the model. Weights of 8 bits compute at the 8-bit
// rate where the accelerator has one for that format; all others at the 16-bit rate.
DeploymentShape read_deployment_shape(ConfigReader& deployment, const ModelSpec& model,
                                      const HardwareSpec& hardware);

}  // namespace inferscale
