// Random scenarios for one replica: options, a latency model and requests, all from one seed.
//
// Three families. `roofline` takes a catalogue model on catalogue hardware, sized so that batches
// cross the kink between memory and compute. `linear` has fractional coefficients, some of them
// zero. `whole` is a linear model whose step costs are whole nanoseconds, so that nothing is ever
// rounded; its arrivals are put on a grid that step boundaries often hit, which makes ties common.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/request.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"

namespace inferscale {

enum class ScenarioFamily : std::uint8_t { kRoofline, kLinear, kWhole };

struct Scenario {
  std::uint64_t seed = 0;
  ScenarioFamily family = ScenarioFamily::kLinear;
  ReplicaOptions options;
  std::unique_ptr<LatencyModel> latency;
  std::vector<Request> requests;

  // One line for the message of a failure.
  std::string describe() const;
};

// The family follows from the seed: seed % 3.
Scenario make_scenario(std::uint64_t seed);

// The number of trials of a property: the environment variable INFERSCALE_TRIALS, or `fallback`.
std::uint64_t trials(std::uint64_t fallback);
// The first seed: INFERSCALE_SEED, or 1. With INFERSCALE_TRIALS=1 it repeats one failure.
std::uint64_t first_seed();

}  // namespace inferscale
