// The `measurement` part of a configuration: what of a run its figures are taken from.

#pragma once

#include "base/config_reader.h"
#include "base/time.h"

namespace inferscale {

// Requests that arrive before the warm-up ends are left out of latency and goodput.
struct MeasurementOptions {
  Duration warmup;
  bool warmup_auto = false;  // its end is found from the TTFT series (metrics/warmup.h)
};

MeasurementOptions read_measurement(ConfigReader& root);

}  // namespace inferscale
