// Requests over their attempts: when each is presented, left and over, as their clients will.
//
// A request is added with the instant at which it is due. From then on it is
//
//   due ──next()──> in flight ──ended()──> due again, or over
//                      │
//                      └─ its client's timeout, one that closes: take_leaver() ──> due again, over
//                         one that does not: due again, or over, behind the timeout, while the
//                         attempt runs on
//
// or waits behind its caller's limit (caller_limits.h). At most one event is ahead of each: being
// presented, or given up at a timeout that nobody else tells of. Requests due at one instant are in
// the order of their numbers. A client whose tenant's budget is used up finds that out when its
// retry is due, and gives up. An end at the very instant of a timeout comes too late. What comes
// first is always known exactly: nothing but what the owner tells can change it.
//
// Numbers are the caller's: dense from 0, the same whatever happens to others.
//
// Cost: logarithmic in the waiting requests; requests that give up at one instant behind a silent
// timeout or a spent budget are passed one by one. Memory: about 75 bytes for each request, 4 for
// each attempt, and about 250 for each request that is not over.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/client_record.h"
#include "workload/clients/caller_limits.h"
#include "workload/clients/client_behaviour.h"

namespace inferscale {

// Whose request it is.
struct Caller {
  static constexpr std::uint32_t kNobody = Request::kNobody;

  std::uint32_t tenant = kNobody;  // whose budget it is: dense indices, or nobody's
  std::uint32_t group = kNobody;   // whose limit it is: dense indices, or nobody's
};

// What is presented next.
struct Presentation {
  std::uint32_t number = 0;
  RequestId id = 0;
  RequestId first = 0;  // id of its first attempt
  std::uint32_t attempt = 0;
  Instant at;
  Duration spent;                  // since it was first due
  std::uint32_t kept_tokens = 0;   // of its answer, from streams that broke
  std::uint32_t breaks_after = 0;  // tokens of this stream; 0: it is whole

  // Makes the request as it is when it is presented first into what is presented now.
  void apply(Request& request) const;
};

// A request that is over.
struct CallEnd {
  std::uint32_t number = 0;
  bool finished = false;
  Instant at;
};

class ClientCalls {
 public:
  // `one_failure_ends_group`: the first request of a group that is given up ends the group, as a
  // call ends its session: none of it is presented any more.
  ClientCalls(const ClientOptions& options, std::uint64_t run_seed, bool one_failure_ends_group);

  // REQUIRES: not before the last event; `output_tokens` are those of its whole answer.
  void add(std::uint32_t number, const Caller& caller, std::uint32_t output_tokens, Instant due);
  // Whether it is the next event of its request that it is presented: not if its caller's limit
  // keeps it waiting.
  bool is_due(std::uint32_t number) const;
  // In flight, and its client waits for it.
  bool is_in_flight(std::uint32_t number) const;

  Instant next_at() const;
  // REQUIRES: next_at() is not never().
  Presentation next();
  void ended(RequestId id, const Outcome& outcome, const Answer& answer, Instant now);
  Instant next_leave() const;
  RequestId take_leaver();
  // The request whose event is the next one; kNobody when there is none. What an event looks at of
  // it is on its way into the cache after that.
  std::uint32_t expect_next() const;
  // The same for an attempt that is about to end: gives its request.
  std::uint32_t expect_end(RequestId id) const;
  // Requests that are over since the last call, in order.
  std::vector<CallEnd> take_ends() { return std::exchange(ends_, {}); }
  // Ends a group: what is in flight goes on, and is not tried again.
  void close(std::uint32_t group);
  // The run has ended at `end`: what comes to nothing until then has done so.
  void finish(Instant end);

  const std::vector<std::uint32_t>& request_of() const { return request_of_; }
  // REQUIRES: the options are not those of plain retries (only_full_queue_or_lost).
  ClientRecords take_records(Instant end);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kOver = UINT32_MAX - 1;

  enum class Ahead : std::uint8_t {
    kNothing,
    kFirst,    // it is presented for the first time
    kRouter,   // again, by a router in between
    kRetry,    // again, if the budget allows it
    kGivenUp,  // it is given up
  };
  // In cache lines of its own: what every event looks at comes first, what only ends look at last.
  struct alignas(64) Live {
    std::uint32_t number = 0;
    RequestId current = kNone;  // the attempt that its client waits for
    RequestId first = kNone;
    Caller caller;
    Ahead ahead = Ahead::kNothing;
    bool waits_for_limit = false;
    bool is_paid = false;    // its retry is counted in its budget already
    bool silent = false;     // what is ahead follows from a timeout that has not come yet
    bool timed_out = false;  // what is ahead follows from a timeout
    Instant event;           // when what is ahead happens
    Instant presented;
    Instant last_end;  // of an attempt, for its client
    Instant try_ends = Instant::never();
    std::uint32_t output_tokens = 0;
    std::uint32_t retries = 0;
    std::uint32_t router_retries = 0;
    std::uint32_t kept_tokens = 0;
    std::uint32_t breaks_after = 0;
    RequestRecord record;
  };
  using Event = std::pair<Instant, std::uint32_t>;  // and number
  struct Budget {
    std::int64_t requests = 0;
    std::int64_t retries = 0;
  };

  Live& live(std::uint32_t number) { return live_[slot_[number]]; }
  const Live& live(std::uint32_t number) const { return live_[slot_[number]]; }
  bool is_live(std::uint32_t number) const { return slot_[number] < kOver; }
  // It is live no more.
  void retire(Live& call);
  ClientProgress progress_of(const Live& call) const;

  bool allows(const Live& call) const;
  Budget& budget_of(const Live& call);
  bool is_closed(const Live& call) const;
  // The first event that is a presentation, given that all before it come to nothing.
  std::set<Event>::const_iterator first_presentation() const;
  void put_ahead(Live& call, Ahead ahead, Instant at);
  void clear_ahead(Live& call);
  bool is_presented(const Live& call) const;  // by its event, as things stand
  // The event comes to nothing, or to giving up.
  void fizzle(const Event& event);
  // Everything before `now`, and before the next presentation, that comes to nothing.
  void settle(Instant now);
  // Takes those whose limit is reached out of the way of the next presentation.
  void hold_back();
  // Lets as many go as there is room for.
  void release(std::uint32_t group, Instant now);
  // Of a group that has ended: nothing is ahead of it any more.
  void drop(Live& call);

  void start(Live& call, Instant at);
  void plan_timeout(Live& call);
  void follow(Live& call, const ClientStep& step, Instant now);
  void ended_in_time(Live& call, const Outcome& outcome, const Answer& answer, Instant now);
  void ended_for_nobody(RequestId id, Instant now);
  // Its client's part in its current attempt is over, while that may run on.
  void leave(Live& call, Instant at);
  void broken(Live& call, const Outcome& outcome, Instant now);
  void count(Live& call, const Outcome& outcome);
  void limit(const Live& call, const Outcome& outcome, const Answer& answer, Instant now);
  void over(Live& call, RequestStatus status, Instant at);

  ClientBehaviour behaviour_;
  bool one_failure_ends_group_;
  bool keeps_records_;
  std::vector<RequestRecord> records_;  // by number, of those that are over
  std::vector<std::uint32_t> slot_;     // by number: of live_, or kOver; kNone: not added yet
  std::vector<Live> live_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> request_of_;  // number, by attempt
  std::set<Event> events_;
  std::set<std::pair<Instant, RequestId>> leaves_;
  // Attempts that run on, or are being ended, for nobody, and whose limit they count for.
  std::map<RequestId, std::uint32_t> gone_;
  CallerLimits limits_;
  std::vector<bool> closed_;     // by group
  std::vector<Budget> budgets_;  // by tenant, behind nobody's
  std::vector<CallEnd> ends_;
  std::size_t in_flight_ = 0;  // attempts that have not ended, whoever waits for them
  Instant latest_;
};

}  // namespace inferscale
