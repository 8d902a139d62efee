// Random scenarios: options, a latency model and requests, all from one seed.
//
// Three families. `roofline` takes a catalogue model on catalogue hardware, sized so that batches
// cross the kink between memory and compute. `linear` has fractional coefficients, some of them
// zero. `whole` is a linear model whose step costs are whole nanoseconds, so that nothing is ever
// rounded; its arrivals are put on a grid that step boundaries often hit, which makes ties common.
//
// A plain scenario is one replica that serves requests of known length first come, first served. A
// full one draws from everything else as well: all schedulers and orders, limits and watermarks,
// answers shorter than asked for, windows, cached prefixes, split roles.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/request.h"
#include "replica/latency/latency_model.h"
#include "replica/replica.h"

namespace inferscale {

enum class ScenarioFamily : std::uint8_t { kRoofline, kLinear, kWhole };

// A replica breaks down; what was in it is tried again at once, or lost.
struct Failure {
  Instant at;
  std::size_t replica = 0;  // 0, or 1 for the decode replica
  bool retries = false;
};

// A chain of calls has ended on another replica: told before the wake-ups at `at`, or after them.
struct ChainEnd {
  Instant at;
  std::size_t request = 0;  // its last one here
  bool after_wakes = false;
};

// A caller goes: told right after the arrivals at `at`, or right before the wake-ups.
struct Cancellation {
  Instant at;
  RequestId request = 0;
  bool before_wakes = false;
};

struct Scenario {
  std::uint64_t seed = 0;
  ScenarioFamily family = ScenarioFamily::kLinear;
  ReplicaOptions options;
  std::optional<ReplicaOptions> decode;  // of a decode replica; `options` are then a prefill one's
  std::unique_ptr<LatencyModel> latency;
  std::vector<Request> requests;
  std::vector<std::vector<ContentPiece>> content;  // what the requests point to
  double mean_transfer_ns = 0;                     // from prefill to decode: random times
  std::optional<Duration> transfer;                // or this one for all
  std::vector<Failure> failures;                   // in order of time
  std::vector<Cancellation> cancellations;  // in order of time, those right after arrivals first
  std::deque<ProgramCall> calls;            // what the requests point to
  std::vector<ChainEnd> chain_ends;         // in order of time, those before wake-ups first
  std::optional<Instant> stop;              // the run ends then, whatever still runs

  // One line for the message of a failure.
  std::string describe() const;
};

// The family follows from the seed: seed % 3.
Scenario make_scenario(std::uint64_t seed);
Scenario make_full_scenario(std::uint64_t seed);
// One replica with a prefix cache and rules for what calls of agent programs leave there.
Scenario make_program_scenario(std::uint64_t seed);

// In half of the scenarios requests are of classes with limits of their own: of gaps, and of E2E
// where the replica has one. From draws that nothing else hangs on; drawn anew it is the same.
void draw_classes(Scenario& scenario);

// The scenario's run when no caller goes.
struct PlainRun {
  const std::vector<Outcome>& outcomes;    // by request id
  const std::vector<Instant>& boundaries;  // in ascending order
  Instant end;
};
// Callers go around step boundaries, around arrivals, and anywhere.
void add_cancellations(Scenario& scenario, const PlainRun& plain);

// The number of trials of a property: the environment variable INFERSCALE_TRIALS, or `fallback`.
std::uint64_t trials(std::uint64_t fallback);
// The first seed: INFERSCALE_SEED, or 1. With INFERSCALE_TRIALS=1 it repeats one failure.
std::uint64_t first_seed();

}  // namespace inferscale
