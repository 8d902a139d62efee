// Which replicas of a fleet are up, and when that changes: planned and random failures, returns,
// a count that follows a schedule or the load.
//
//   off --> starting --(startup_delay)--> up <--> draining --(empty)--> off
//                                         | \        |
//                                         |  failure |--> off
//                                         v
//                                       failed --(return_after)--> up;  without a return: off
//
// To scale up, draining replicas are taken back first, then those that are off start, lowest index
// first. To scale down, starting replicas stop first, then failed ones are given up, then replicas
// drain, highest index first. A failed replica that will return counts as one that is there.
//
// Autoscaling, at each tick, with the load averaged over the interval before it:
//
//   load = running sequences / max_num_seqs of one replica;  wanted = ceil(load / target)
//
// within min and max, and only when cooldown has passed since the last change. The formula is that
// of Kubernetes' horizontal autoscaler (wanted = ceil(replicas x metric / target)), without its
// tolerance band.
//
// Only this class knows states; the owner empties what failed and says when a draining replica is
// empty. Cost: logarithmic in the events for each; scaling takes linear time in the group.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace inferscale {

struct ScalingStep {
  Instant at;
  std::int64_t replicas = 0;
};

struct AutoscaleOptions {
  std::int64_t min = 1;
  std::int64_t max = 1;
  double target_utilisation = 0.7;  // running sequences over max_num_seqs
  Duration interval = Duration::nanos(15'000'000'000);
  Duration cooldown = Duration::nanos(60'000'000'000);
};

struct ScalingOptions {
  Duration startup_delay;
  std::vector<ScalingStep> schedule;  // in order of time
  std::optional<AutoscaleOptions> autoscale;
};

struct PlannedFailure {
  std::uint32_t replica = 0;  // counted over all groups
  Instant at;
  std::optional<Duration> return_after;  // for good when not set
};

// Time to a failure and time to the return are exponential, drawn for each replica from a stream
// of its own.
struct RandomFailures {
  Duration mtbf;  // mean time from coming up to failing
  Duration mttr;  // mean time from failing to being back
};

struct LifecycleOptions {
  struct Group {
    std::int64_t replicas = 1;  // at the start
    std::optional<ScalingOptions> scaling;
    // The most that there will ever be.
    std::int64_t most() const;
  };
  std::vector<Group> groups;
  std::vector<PlannedFailure> failures;
  std::optional<RandomFailures> random_failures;
  std::uint64_t seed = 0;
};

enum class ReplicaState : std::uint8_t { kOff, kStarting, kUp, kDraining, kFailed };

// What the owner has to act upon.
struct LifecycleChange {
  enum class Kind : std::uint8_t {
    kUp,        // takes requests from now on
    kDraining,  // takes no new ones: say drained() when it is empty
    kFailed,    // lost everything at this instant
  };
  Kind kind;
  std::uint32_t replica = 0;
};

class Lifecycle {
 public:
  // Average running sequences since the last call for this group (or the start), in replicas' worth
  // of max_num_seqs.
  using LoadOf = std::function<double(std::size_t group, Instant now)>;

  explicit Lifecycle(const LifecycleOptions& options);

  // never() when nothing is planned.
  Instant next() const;
  // Something planned brings a replica up or changes how many there are by itself; failures and
  // ticks do not.
  bool has_hope() const { return hopeful_ > 0; }
  // How long ticks may go on without any other event before none of them can change anything.
  Duration patience() const { return patience_; }
  // One event. REQUIRES: now == next().
  void advance(Instant now, const LoadOf& load_of, std::vector<LifecycleChange>& changes);
  // A draining replica is empty and goes off. REQUIRES: it is draining.
  void drained(std::uint32_t replica, Instant now);

  std::size_t replicas() const { return replicas_.size(); }
  ReplicaState state(std::uint32_t replica) const { return replicas_[replica].state; }
  // Time from the start of its start-ups to its ends, up to `now`.
  Duration held(std::uint32_t replica, Instant now) const;
  std::int64_t failures() const { return failures_; }

 private:
  enum class EventKind : std::uint8_t { kReturn, kStarted, kFail, kScheduleStep, kTick };
  struct Event {
    Instant at;
    EventKind kind;
    std::uint32_t subject;  // a replica, or a group
    std::uint32_t life;     // of the replica that it was planned for
    std::uint32_t detail;   // kFail: index of the planned failure + 1, 0: random; step: its index
    bool operator>(const Event& other) const;
  };
  static constexpr std::uint32_t kAnyLife = UINT32_MAX;
  struct State {
    ReplicaState state = ReplicaState::kOff;
    std::uint32_t group = 0;
    std::uint32_t life = 0;  // goes up with every change of state
    Instant since;           // it is held, while it is
    Duration held;           // before that
  };
  struct GroupState {
    std::uint32_t begin = 0;  // its replicas
    std::uint32_t end = 0;
    std::optional<Instant> last_change;
  };

  void plan(const Event& event);
  bool is_stale(const Event& event) const;
  void drop_stale();
  void enter(std::uint32_t replica, ReplicaState state, Instant now);
  void come_up(std::uint32_t replica, Instant now, std::vector<LifecycleChange>& changes);
  void fail(const Event& event, std::vector<LifecycleChange>& changes);
  void tick(std::uint32_t group, Instant now, const LoadOf& load_of,
            std::vector<LifecycleChange>& changes);
  std::int64_t count_there(std::uint32_t group) const;
  void scale_to(std::uint32_t group, std::int64_t wanted, Instant now,
                std::vector<LifecycleChange>& changes);
  bool start_one(std::uint32_t group, Instant now, std::vector<LifecycleChange>& changes);
  void stop_one(std::uint32_t group, Instant now, std::vector<LifecycleChange>& changes);

  LifecycleOptions options_;
  std::vector<State> replicas_;
  std::vector<GroupState> groups_;
  std::vector<RandomStream> streams_;  // by replica, with random failures
  std::vector<Event> events_;          // a heap
  std::int64_t hopeful_ = 0;           // events in it that has_hope() counts
  std::int64_t failures_ = 0;
  Duration patience_;
};

}  // namespace inferscale
