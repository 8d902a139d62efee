// Runs a scenario through real replicas, as the simulator would, and keeps everything.
//
// The owner played here has one replica, or a prefill and a decode replica with transfers between
// them that take random times. Rule for ties at one instant: arrivals, callers who go, failures,
// transfers, callers who go last, then the wake-ups, of replica 0 first. A request that was in a
// replica that failed arrives again at once, as a new attempt, or is lost.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "property/scenario.h"

namespace inferscale {

enum class ReplicaKind : std::uint8_t { kSegments, kStepwise };

// Something that a replica told its owner.
struct Report {
  enum class Kind : std::uint8_t { kRecord, kPrefilled, kReserved, kLost };
  Kind kind = Kind::kRecord;
  std::size_t replica = 0;
  Instant at;
  RequestId id = 0;
  Outcome outcome;  // kRecord
  // kPrefilled: start, first token; kReserved: resident tokens.
  std::int64_t figures[4] = {};

  bool operator==(const Report& other) const;
  std::string describe() const;
};

// A step's shape that the latency model was asked about, and when.
struct CostedShape {
  Instant at;
  std::size_t replica = 0;
  StepShape shape;
  std::int64_t valid_steps = 0;
};

struct ReplicaRun {
  std::vector<Outcome> outcomes;    // by request id
  std::vector<Report> reports;      // in the order in which they came
  std::vector<ReplicaLoad> loads;   // of every replica at each of the instants asked for
  std::vector<Instant> wakes;       // stepwise: every step boundary
  std::vector<CostedShape> shapes;  // in the order in which they were asked about
  std::vector<ReplicaUsage> usage;  // of every replica
  std::unique_ptr<DurationHistogram> gaps;
  Instant end;               // the last event
  std::int64_t stalled = 0;  // wake-ups after which somebody in the batch did not take part
  std::int64_t paused = 0;   // wake-ups after which nothing ran though somebody could decode
  std::int64_t transfers = 0;
  std::int64_t withdrawn = 0;  // handed-over sequences whose prefill replica failed
  std::int64_t restarted = 0;  // attempts that a failure caused
  std::int64_t cancelled_in_transfer = 0;
  std::string broken;  // the first thing that was seen broken, or empty
};

// `look_at` are instants in ascending order at which to ask for the load, after everything that
// happened there.
ReplicaRun run_replica(ReplicaKind kind, const Scenario& scenario,
                       const std::vector<Instant>& look_at = {});

}  // namespace inferscale
