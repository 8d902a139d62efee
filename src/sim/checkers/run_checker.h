// The invariants of a run, checked while it goes and at its end (docs/invariants.md).

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
  // An event at `now`; after a wake-up with the replica, else with null.
  void on_event(Instant now, const Replica* replica);
  void on_outcome(RequestId id, const Outcome& outcome);
  // After the last event and the flush. `drained`: the run was not interrupted.
  void on_end(std::span<const Outcome> outcomes, bool drained);

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void violated(const char* invariant, const std::string& detail);
  void check_timestamps(RequestId id, const Outcome& outcome);

  Instant last_;
  std::vector<std::uint8_t> endings_;  // terminal outcomes by request
  std::vector<std::string> violations_;
};

}  // namespace inferscale
