// Runs one deployment against one stream of requests, in virtual time.
//
// The event loop merges three sources: arrivals, the replica's wake-ups, and the sampling of its
// state. Rule for ties at one instant: arrivals first (in order of id), then the wake-up, then the
// sample, which so sees everything that happened. A sample only looks: outcomes are the same for
// any sampling interval.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/duration_histogram.h"
#include "core/outcome.h"
#include "core/signal_sample.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"
#include "workload/request_source.h"

namespace inferscale {

struct SimulatorOptions {
  ReplicaOptions replica;
  bool stepwise = false;                     // take every step: the slow oracle
  bool verify = false;                       // check the invariants on the way
  std::optional<Duration> signals_interval;  // no samples when not set
};

// How a run is watched and stopped from outside. Both may be left out.
struct RunControl {
  const std::atomic<bool>* stop = nullptr;              // set by another thread or a signal handler
  std::function<void(std::uint64_t arrived)> progress;  // called every so often
};

struct SimulationResult {
  std::vector<Outcome> outcomes;  // by request id, those that arrived
  std::vector<SignalSample> signals;
  // Whether the samples were too many to keep; then every second one was dropped and the interval
  // doubled, as often as needed.
  bool signals_thinned = false;
  Duration signals_interval;  // between two samples, in the end
  ReplicaUsage usage;
  std::unique_ptr<DurationHistogram> gaps;  // of all tokens
  Instant end;                              // the last event
  bool beyond_time = false;  // an event lies past kEndOfTime: the run stopped before it
  bool interrupted = false;  // stopped from outside: what had finished is in `outcomes`
  std::uint64_t events = 0;
  std::vector<std::string>
      violations;  // invariants that did not hold; empty unless asked to verify
};

SimulationResult simulate(const SimulatorOptions& options, const LatencyModel& latency,
                          RequestSource& source, const RunControl& control);

}  // namespace inferscale
