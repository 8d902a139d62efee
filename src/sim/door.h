// The door of a run: requests as a gate would see them, and the gate's decisions as events.
//
// The gate is the same object that a real ingress uses. It is told what a real one would know: the
// metrics pages as they were at the last scrape, its own dispatches, first tokens and ends at once,
// and of a request its prompt, what it asks for and whose it is. Pages are read after everything
// else that happens at their instant, and pass on `scrape_delay` later.
//
// Cost: nothing between scrapes but for what the gate does; a scrape reads every replica.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "admission/gate.h"
#include "core/outcome.h"
#include "core/request.h"
#include "replica/replica.h"
#include "sim/door_options.h"

namespace inferscale {

// A replica behind the door.
struct DoorMember {
  const Replica* replica = nullptr;
  BlockCount kv_blocks = 0;
  TokenCount kv_tokens = 0;
  bool caches_prefixes = false;
};

// A stable key for the tenant or session ("tenant", "session") with this number; never kNoCaller
// but for Request::kNobody.
CallerKey caller_key(std::string_view kind, std::uint32_t number);

class Door {
 public:
  // `members`: those that it reads; dispatches go to the first `fronts` of them.
  Door(const DoorOptions& options, std::vector<DoorMember> members);
  ~Door();

  DoorScope scope() const { return options_.scope; }
  // `replica`: of the gate, for a door of replicas. `is_rerouted`: another gate admitted it, whose
  // replica failed. What was held comes out of take_releases().
  Presented present(const Request& request, std::uint32_t replica, bool is_rerouted, Instant now);
  // REQUIRES for these: it was admitted.
  void dispatched(RequestId id, std::uint32_t replica, Instant now);
  void first_token(RequestId id, Instant now);
  void ended(RequestId id, const Outcome& outcome, Instant now);
  // Its replica failed: it comes to a door again where each replica has its own.
  void taken_back(RequestId id, Instant now);
  // The caller of a held request left. Nothing: it is not held.
  std::optional<Request> withdraw(RequestId id, Instant now);
  void set_available(std::uint32_t replica, bool available, Instant now);

  struct Released {
    Request request;
    std::uint32_t replica = 0;  // of a door of replicas: whose gate
    Presented presented;
  };
  // In order of their decisions.
  std::vector<Released> take_releases();
  bool has_releases() const;

  // The next scrape, page, expiry or tick. Scrapes go on for ever: nothing but them is left when
  // nobody is held.
  Instant next() const { return next_; }
  void advance(Instant now);
  bool holds_anyone() const { return !held_.empty(); }
  std::vector<Request> held_requests() const;

  GateCounts counts() const;

 private:
  using Identity = std::pair<std::uint64_t, std::uint32_t>;
  struct Page {
    Instant due;
    std::uint32_t member = 0;
    EngineReading reading;
  };

  RequestView view_of(const Request& request) const;
  EngineReading read(std::uint32_t member, Instant now) const;
  std::uint32_t gate_of(std::uint32_t replica) const {
    return options_.scope == DoorScope::kReplica ? replica : 0;
  }
  std::uint32_t place_in_gate(std::uint32_t replica) const {
    return options_.scope == DoorScope::kReplica ? 0 : replica;
  }
  void scrape(Instant now);
  void note_next();

  DoorOptions options_;
  std::vector<DoorMember> members_;
  std::vector<std::unique_ptr<AdmissionGate>> gates_;
  std::vector<Permit> permits_;           // by request
  std::vector<std::uint32_t> gate_used_;  // by request, for a door of replicas
  std::map<Identity, std::pair<Request, std::uint32_t>> held_;
  std::deque<Page> pages_;  // on their way
  const Request* presenting_ = nullptr;
  Instant next_scrape_ = Instant::never();
  Instant next_ = Instant::never();
};

}  // namespace inferscale
