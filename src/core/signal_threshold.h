// A policy that compares one signal with one number: what its run is judged live or inert by.

#pragma once

#include "core/signal.h"

namespace inferscale {

// It refuses at or above the value (or, `below`, at or below it).
struct SignalThreshold {
  Signal signal = Signal::kQueueDepth;
  double value = 0;
  bool below = false;
};

}  // namespace inferscale
