// The invariants of a run, checked while it goes and at its end.
//
//   INV-1  conservation: every request ends once, and those that have not are in the replica
//   INV-2  order: arrival <= start <= first token <= finish, and what never came has no instant
//   INV-3  clock: time never falls, and nobody asks to be woken in the past
//   INV-4  KV blocks: held + free = total, the sequences' blocks are those held; batch in its limit
//   INV-5  work conservation: nobody waits who could be admitted, nothing stands still
//   INV-7  gaps: as many as there are tokens between, the longest at least their mean
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
  explicit RunChecker(const ReplicaOptions& options) : options_(options) {}

  // After the event at `now`; `arrived` requests have come so far.
  void on_event(Instant now, const Replica& replica, std::int64_t arrived);
  void on_outcome(RequestId id, const Outcome& outcome);
  // After the last event and the flush. `drained`: the run was not interrupted.
  void on_end(std::span<const Outcome> outcomes, bool drained);

  // "INV-n: what, where", the first ones.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void violated(const std::string& what);
  void check_order(const std::string& who, const Outcome& outcome);
  void check_gaps(const std::string& who, const Outcome& outcome);

  ReplicaOptions options_;
  Instant last_;
  std::vector<std::uint8_t> endings_;  // by request
  std::int64_t ended_ = 0;             // requests that have ended
  std::vector<std::string> violations_;
};

}  // namespace inferscale
