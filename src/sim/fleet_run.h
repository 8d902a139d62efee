// One run of a fleet: its state, and what each event does to it. Internal to the module; what it
// means is in simulator.h.
//
// fleet_run.cc has the loop and the replicas, fleet_run_build.cc what there is before the first
// event, fleet_run_door.cc who gets in, fleet_run_split.cc the way from prefill to decode,
// fleet_run_changes.cc failures, returns and scaling, fleet_run_result.cc what is left at the end.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/chain_places.h"
#include "sim/checkers/run_checker.h"
#include "sim/door.h"
#include "sim/lifecycle.h"
#include "sim/link.h"
#include "sim/parked.h"
#include "sim/pool.h"
#include "sim/sampler.h"
#include "sim/simulator.h"
#include "sim/wake_queue.h"
#include "workload/reactive_source.h"

namespace inferscale {

class FleetRun final : public ReplicaSink {
 public:
  FleetRun(const FleetOptions& fleet, const RunOptions& options, RequestSource& source,
           const RunControl& control);
  SimulationResult run();

  void record(RequestId id, const Outcome& outcome) override;
  void first_token(RequestId id, Instant now) override;
  void prefilled(const Handoff& handoff) override;
  void reserved(RequestId id, TokenCount resident_tokens, Instant now) override;

 private:
  // A rank.
  struct Member {
    std::unique_ptr<Replica> replica;
    std::uint32_t group = 0;
    std::uint32_t unit = 0;       // the replica of the configuration that it is a rank of
    std::int64_t custody = 0;     // requests dispatched to it and neither ended nor handed over
    std::int64_t parked = 0;      // prefilled here, their blocks not released yet
    std::int64_t dispatched = 0;  // all of them
    std::int64_t finished = 0;
    std::int64_t refused = 0;
    Instant last_wake;
  };

  void add_group(std::uint32_t group, std::uint32_t most);
  void make_pools();
  LifecycleOptions lifecycle_options() const;

  // The loop.
  // Handles everything at the next instant at which something happens. False: nothing is left.
  bool step();
  // Readings and samples that are due before the events at `now`.
  void look_on_until(Instant now);
  Instant next_change() const;
  bool is_stuck(Instant next_of_others) const;
  void handle_change(Instant now);
  void wake(std::uint32_t index, Instant now);
  void arrive();
  // What arrives next.
  void look_ahead();
  // To a replica, or to the waiting room when none is available.
  void dispatch(const Request& request, Instant now);
  void wait_for_replica(const Request& request);
  void tell_choice(Pool& pool, const Request& request, Instant now) const;
  void send(std::uint32_t index, const Request& request, Instant now);
  void tell_dispatched(std::uint32_t index, const Request& request, Instant now);
  // After anything was done to the replica at `now`.
  void touched(std::uint32_t index, Instant now) {
    wakes_.set(index, members_[index].replica->next_wake());
    if (is_alone_) return;
    pool_of(index).touched(index);
    if (checker_ || lifecycle_) look_after(index, now);
  }
  void look_after(std::uint32_t index, Instant now);
  // A request that waited for a replica, or whose replica failed, comes to a replica at `now`: its
  // deadline stays where it was.
  void arrive_again(Request& request, Instant now) const;
  // Those who waited for a replica.
  void place_waiting(Instant now);
  // A request of a reactive source has ended.
  void tell_source(RequestId id, const Answer& answer);
  void end_chain_elsewhere(RequestId id);
  void end_without_replica(const Request& request, OutcomeStatus status, Reason reason,
                           const Answer& answer);
  Answer answer_to(const Outcome& outcome) const;

  // Admission: the door, and callers who leave.
  void make_door();
  void enter(const Request& request, Instant now);
  void present(const Request& request, std::uint32_t replica, Instant now);
  void after_presentation(const Request& request, Instant now, const Presented& presented,
                          std::uint32_t replica);
  void pass_over(std::uint32_t replica, const Request& request, Instant now);
  void advance_door(Instant now);
  void take_releases(Instant now);
  void note_releases(Instant now);
  void leave(Instant now);
  void end_leaver(const Request& request);
  bool take_from_way(RequestId id, Instant now);
  bool take_parked(RequestId id, Instant now);

  // The split.
  Reason refusal_by_split(const Request& request) const;
  // What the replica that was woken has handed over, and reserved for what was handed over to it.
  void pass_on(std::uint32_t index, Instant now);
  void hand_over_pending(std::uint32_t index, Instant now);
  void dispatch_parked(ParkedSequence& parked, Instant now);
  void start_transfer(RequestId id, TokenCount resident_tokens, Instant now);
  void end_transfers(Instant now);
  void end_transfer(RequestId id, Instant now);

  // Changes of the fleet.
  void change_fleet(Instant now);
  void come_up(std::uint32_t unit, Instant now);
  void begin_draining(std::uint32_t unit, Instant now);
  void fail(std::uint32_t unit, Instant now);
  void fail_member(std::uint32_t index, Instant now, std::vector<Request>& victims);
  // Takes it out of the way from prefill to decode; `failed` is the replica that broke down.
  void unpark(RequestId id, std::uint32_t failed, Instant now);
  void restart_or_lose(std::vector<Request>& victims, Instant now);
  void go_off_if_drained(std::uint32_t unit, Instant now);
  double load_of(std::size_t group, Instant now);

  // The end.
  void flush();
  void add_up(SimulationResult& result) const;
  void add_records();
  std::string why_stuck() const;
  void sample(Instant at, std::vector<SignalSample>& rows) const;
  SignalSample sample_of(std::uint32_t index, Instant at) const;
  bool should_stop() const {
    return control_.stop != nullptr && control_.stop->load(std::memory_order_relaxed);
  }

  bool samples_each() const {
    return std::cmp_less_equal(members_.size(), options_.most_sampled_replicas);
  }
  // Whether a replica that had it broke down.
  bool has_failed(RequestId id) const {
    return !times_failed_.empty() && times_failed_.contains(id);
  }
  bool is_split() const { return link_ != nullptr; }
  bool has_replica_doors() const {
    return gate_ != nullptr && gate_->scope() == DoorScope::kReplica;
  }
  const GroupOptions& group_of(std::uint32_t index) const {
    return fleet_.groups[members_[index].group];
  }
  Pool& pool_of(std::uint32_t index) {
    return decode_ == nullptr || front_->contains(index) ? *front_ : *decode_;
  }

  struct Unit {
    std::uint32_t begin = 0;  // its ranks
    std::uint32_t end = 0;
    bool was_up = false;
  };

  const FleetOptions& fleet_;
  const RunOptions& options_;
  RequestSource& source_;
  ReactiveSource* reactive_;  // null: the source waits for nobody
  const RunControl& control_;
  std::unique_ptr<DurationHistogram> gaps_;
  std::vector<Member> members_;
  std::vector<Unit> units_;
  WakeQueue wakes_;
  std::unique_ptr<Pool> front_;           // of whole replicas, or those that prefill
  std::unique_ptr<Pool> decode_;          // in a split
  std::unique_ptr<Link> link_;            // in a split
  std::unique_ptr<Lifecycle> lifecycle_;  // when the fleet may change
  bool has_changes_ = false;              // link or lifecycle: something beside arrivals and wakes
  bool has_lookers_ = false;              // somebody reads or samples on the way
  bool is_alone_ = false;  // one replica for good: none chooses, checks or keeps books

  VirtualClock clock_;
  Request upcoming_;  // the next arrival, when there is one
  bool has_upcoming_ = false;
  Instant told_at_ = Instant::nanos(-1);  // when the reactive source was last told of an end
  bool was_told_ = false;       // the reactive source, of an end; it may have changed its mind
  std::int64_t in_system_ = 0;  // arrived and not ended
  std::uint32_t current_ = 0;   // the replica that is being called
  bool flushing_ = false;
  Instant last_progress_;  // the last event that was not a tick

  std::unique_ptr<Door> gate_;              // where somebody decides who gets in
  Instant releases_at_ = Instant::never();  // those whom the gate has released are dispatched
  Instant leave_at_ = Instant::never();     // the next caller leaves
  StatusMap status_;                        // of answers that no gate gives
  std::deque<Request> unplaced_;            // wait for a replica
  std::deque<Request> retries_;
  std::map<RequestId, std::int64_t> times_failed_;
  std::vector<Handoff> handed_over_;        // by the replica that is being woken
  std::deque<RequestId> unplaced_decodes_;  // prefilled, and wait for a replica to decode
  ParkedSequences parked_;
  std::vector<std::pair<RequestId, TokenCount>> reservations_;  // by the one being woken
  ChainPlaces chains_;                                          // of a reactive source, in a fleet
  std::vector<RequestId> arrived_;                              // scratch of end_transfers()
  std::vector<LifecycleChange> changes_;                        // scratch of change_fleet()
  std::vector<double> load_seen_;  // by group: running x ns at the last tick
  std::vector<Instant> load_seen_at_;

  Sampler sampler_;
  std::unique_ptr<RunChecker> checker_;  // with `verify`
  SimulationResult result_;
};

}  // namespace inferscale
