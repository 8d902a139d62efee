// The `deployment.latency` part of a configuration, and the model that it chooses.

#pragma once

#include <cstdint>
#include <memory>

#include "base/config_reader.h"
#include "replica/latency/linear.h"
#include "replica/latency/roofline.h"

namespace inferscale {

enum class LatencyKind : std::uint8_t { kRoofline, kLinear };

struct LatencyOptions {
  LatencyKind kind = LatencyKind::kRoofline;
  LatencyScales scales;
  LinearLatencyOptions linear;
};

LatencyOptions read_latency_options(ConfigReader& deployment);

std::unique_ptr<LatencyModel> make_latency(const LatencyOptions& options, const ModelSpec& model,
                                           const HardwareSpec& hardware,
                                           const DeploymentShape& shape);

}  // namespace inferscale
