// Runs one deployment against one stream of requests, in virtual time.
//
// The event loop merges arrivals, changes of the fleet, the link and the replicas' wake-ups. Rule
// for ties at one instant:
//
//   1. arrivals, in order of id (what a reactive source presents because of an end at this instant
//      comes a nanosecond later); then whom the door has let go; then callers who leave
//   2. replicas that return, are started, fail; steps of the schedule, ticks of the autoscaler
//   3. transfers that end: the prefill replica's blocks are released, the decode replica is told
//   4. retries of requests whose replica failed, in order of id
//   5. wake-ups of replicas, in order of index; what one hands over reaches its decode replica
//      before the next wake-up
//   6. readings for routers and samples: they see everything that happened, and only look
//   7. the door: scrapes, pages that come in, times that are over; whom it lets go because of
//      anything at this instant comes out a nanosecond later
//
// So outcomes are the same for any sampling interval. Requests that find no replica available wait
// at the door, in order, and go out when one comes up.
//
// Cost: logarithmic in the number of replicas for each event; nothing for features that are off.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/gate.h"
#include "core/client_record.h"
#include "core/decision_observer.h"
#include "core/duration_histogram.h"
#include "core/outcome.h"
#include "core/replica_report.h"
#include "core/session_record.h"
#include "core/signal_sample.h"
#include "sim/fleet.h"
#include "workload/request_source.h"

namespace inferscale {

// How a run is executed and watched; outcomes do not depend on it.
struct RunOptions {
  bool stepwise = false;                     // take every step: the slow oracle
  bool verify = false;                       // check the invariants on the way
  std::optional<Duration> signals_interval;  // no samples when not set
  // Fleets of more ranks than this have one row for all at each sample.
  std::int64_t most_sampled_replicas = 64;
  DecisionObserver* observer = nullptr;   // told of every step and choice, where there is one
  ReplicaFactory make_replica = nullptr;  // the engine that `stepwise` says when not set
};

// A run of one replica.
struct SimulatorOptions {
  ReplicaOptions replica;
  bool stepwise = false;
  bool verify = false;
  std::optional<Duration> signals_interval;
};

// How a run is watched and stopped from outside. Both may be left out.
struct RunControl {
  const std::atomic<bool>* stop = nullptr;              // set by another thread or a signal handler
  std::function<void(std::uint64_t arrived)> progress;  // called every so often
};

// What moved between the pools of a split. Sums over the transfers that were completed, but for
// the counts of those that were started and cut, and the times of waiting for a reservation.
struct TransferFacts {
  std::int64_t handed_over = 0;
  std::int64_t started = 0;
  std::int64_t completed = 0;
  std::int64_t cut = 0;  // by a failure at either end
  double bytes = 0;
  double resident_tokens = 0;  // of prompts, that had not to be moved
  Duration link_busy;          // some transfer was under way
  double reserving_ns = 0;     // from the end of the prefill to the decode replica's reservation
  Duration reserving_max;
  double moving_ns =
      0;  // from the reservation to the end of the transfer, the link's queue included
  Duration moving_max;
};

struct FleetFacts {
  std::int64_t failures = 0;
  std::int64_t retries = 0;
  std::int64_t lost = 0;
  std::int64_t waiting_for_replica_peak = 0;  // most requests that waited for a replica to come up
  std::int64_t waited_for_replica = 0;        // how many ever did
  Duration accelerator_time;                  // summed over accelerators, from start-up to end
};

struct SimulationResult {
  std::vector<Outcome> outcomes;        // by request id, those that arrived
  std::vector<std::uint8_t> slo_class;  // of each outcome, where requests have classes; else empty
  std::vector<SignalSample> signals;
  // The rows are of the whole fleet: counts are sums, the used fraction is of all KV blocks that
  // are up; the replica is 0.
  bool signals_of_fleet = false;
  // Whether the samples were too many to keep; then every second one was dropped and the interval
  // doubled, as often as needed.
  bool signals_thinned = false;
  Duration signals_interval;  // between two samples, in the end
  // Of all replicas: times and counts are sums, peaks those of the replica that had the highest.
  ReplicaUsage usage;
  std::vector<ReplicaReport> replicas;  // those that were ever up
  FleetFacts fleet;
  TransferFacts transfers;
  std::optional<ProgramRecords> programs;   // of agent programs
  std::optional<ClientRecords> clients;     // of clients that may come again; outcomes are attempts
  std::unique_ptr<DurationHistogram> gaps;  // of all tokens
  Instant end;                              // the last event
  bool beyond_time = false;  // an event lies past kEndOfTime: the run stopped before it
  bool interrupted = false;  // stopped from outside: what had finished is in `outcomes`
  // Why requests are left though nothing more can happen; empty when none are.
  std::string stuck;
  std::optional<GateCounts> gate;  // where somebody decided who gets in
  std::uint64_t events = 0;
  std::vector<std::string>
      violations;  // invariants that did not hold; empty unless asked to verify
};

SimulationResult simulate(const SimulatorOptions& options, const LatencyModel& latency,
                          RequestSource& source, const RunControl& control);
SimulationResult simulate_fleet(const FleetOptions& fleet, const RunOptions& options,
                                RequestSource& source, const RunControl& control);

}  // namespace inferscale
