// The invariants of a run, checked while it goes and at its end.
//
//   INV-1  conservation: every request ends once; at any instant it is at the door or in the
//          custody of a replica, which knows of as many
//   INV-2  order: arrival <= start <= first token <= finish, and what never came has no instant
//   INV-3  clock: time never falls, and nobody asks to be woken in the past
//   INV-4  KV blocks: held + free = total, the sequences' blocks are those held; batch in its limit
//   INV-5  work conservation: nobody waits who could be admitted, nothing stands still
//   INV-7  gaps: as many as there are tokens between, the longest at least their mean
//   INV-10 custody: a request is in the custody of at most one replica
//   INV-11 split: prefill, then transfer, then decode
//   INV-12 transfers: started = completed + cut, each for a sequence that was handed over
//   INV-13 first come, first served: a replica whose queue is in order of arrival starts requests
//          in the order in which they were dispatched to it
//
// INV-6, that a run can be repeated, takes a second run to see, so it is not checked here.
// Statements, and the tests that break each of them: docs/invariants.md. Cost: linear in the batch
// for each event, so a run that is checked is slower.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/outcome.h"
#include "replica/replica.h"

namespace inferscale {

class RunChecker {
 public:
  // The replicas of the fleet, by index.
  explicit RunChecker(std::vector<ReplicaOptions> replicas)
      : replicas_(std::move(replicas)), held_(replicas_.size(), 0) {}

  // What happens to a request.
  void on_arrival(RequestId id);
  // It was held at the door, and others have gone before it.
  void on_held(RequestId id) { custody(id).in_order = false; }
  void on_dispatch(RequestId id, std::uint32_t replica);
  // It was prefilled: its KV cache stays where it is, nobody has custody.
  void on_handoff(RequestId id);
  void on_transfer_start(RequestId id, Instant now);
  void on_transfer_end(RequestId id, Instant now);
  void on_transfer_cut(RequestId id);
  // Its replica failed, or the one that kept its KV cache: it is back at the door.
  void on_taken_back(RequestId id);
  void on_outcome(RequestId id, const Outcome& outcome);

  // After the event at `now` at this replica.
  void on_event(Instant now, std::uint32_t index, const Replica& replica);
  // After the last event and the flush. `drained`: the run was not cut short and got everybody
  // through.
  void on_end(std::span<const Outcome> outcomes, bool drained);

  // "INV-n: what, where", the first ones.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  enum class Transfer : std::uint8_t { kNone, kMoving, kDone };
  struct Custody {
    std::uint32_t replica = kNobody;
    std::uint32_t first_replica = kNobody;  // that it was dispatched to
    Instant transfer_start = Instant::never();
    Instant transfer_end = Instant::never();
    bool arrived = false;
    bool handed_over = false;
    bool in_order = true;  // it went to its replica when it arrived, and only once
    Transfer transfer = Transfer::kNone;
    std::uint8_t endings = 0;
  };

  Custody& custody(RequestId id);
  void violated(const std::string& what);
  void check_order(const std::string& who, const Outcome& outcome);
  void check_gaps(const std::string& who, const Outcome& outcome);
  void check_split(const std::string& who, const Custody& custody, const Outcome& outcome);
  void check_first_come(std::span<const Outcome> outcomes);
  void check_load(Instant now, std::uint32_t index, const ReplicaLoad& load, bool stands_still);
  bool may_stand_still(std::uint32_t index) const;

  std::vector<ReplicaOptions> replicas_;
  std::vector<std::int64_t> held_;  // by replica: requests in its custody
  Instant last_;
  std::vector<Custody> custodies_;  // by request
  std::int64_t parked_ = 0;         // handed over, KV cache not moved yet
  std::int64_t started_ = 0;
  std::int64_t completed_ = 0;
  std::int64_t cut_ = 0;
  std::int64_t moving_at_end_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace inferscale
