// A router: chooses the replica that an admitted request is dispatched to.
//
// The simulator calls it in virtual time, the gate in real time; it reads no clock, draws no random
// numbers but hashes of (seed, request), and does no work but in these calls. It is not
// thread-safe: an owner with several threads calls it under one lock, so that choosing, dispatching
// and the books behind them are one step.
//
//   owner                                    router
//   choose(request)                          looks, and changes nothing but what it has read
//   dispatched(replica, request, now)        books it; only this moves cursors, homes and indexes
//   observe(replica, signals)                a reading came in, possibly of an earlier instant
//   finished(replica, request.id, now)       it ended there: finished, refused, lost, handed over
//   set_available(replica, false)            draining, failed or starting: gets nothing new
//   forget(replica)                          it starts anew, with an empty cache
//
// What a replica's load is. The router keeps books of what is in flight on each replica. A reading
// replaces them as the base; what was dispatched and what finished since the reading was *observed*
// is then added and taken away (unless `corrections` is off). Where a signal is unknown the books
// alone count: unknown is never zero. How long a reading may stand is the owner's to judge: it
// observes an empty reading when the last one is too old.
//
// Rule for ties, in every policy that compares loads: the greater weight, then the replica that was
// dispatched to longest ago (those never dispatched to come first), then the lower index. Equal
// replicas under equal load are therefore served in turn.
//
// Cost: choose, dispatched, finished and observe take logarithmic time in the number of replicas
// (observe also: in the events since the reading; prefix_aware also: in the pieces of the prompt).
// Readings are needed only for the signals that needed_signals() names.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/request.h"
#include "routing/load_source.h"
#include "routing/replica_books.h"
#include "routing/replica_signals.h"
#include "routing/router_options.h"
#include "routing/routing_policy.h"

namespace inferscale {

// Which signals a policy reads from observe().
struct NeededSignals {
  bool queue = false;  // queue_depth and running
  bool kv = false;
  bool tokens = false;

  bool any() const { return queue || kv || tokens; }
};

class Router {
 public:
  // What it does with replicas is up to `policy`; see make_router.
  Router(ReplicaBooks books, std::unique_ptr<RoutingPolicy> policy);

  // A further replica, available at once; its index is the number of those before it.
  std::uint32_t add_replica(const ReplicaTraits& traits);
  void set_available(std::uint32_t replica, bool available);
  // Choosing and explaining ask `source` for present readings from now on; it outlives the router.
  void ask(LoadSource& source) { books_.ask(source); }
  // REQUIRES: readings of a replica come in the order in which they were observed, and none from
  // before it was forgotten.
  void observe(std::uint32_t replica, const ReplicaSignals& signals);
  // The same for a reading of tokens_in_flight alone, of the present.
  void observe_tokens(std::uint32_t replica, TokenCount tokens) {
    books_.observe_tokens(replica, tokens);
  }
  // Nothing when no replica is available.
  std::optional<std::uint32_t> choose(const Request& request);
  // Its tokens are counted as given: the owner of a pool that only prefills sets max_tokens to 0.
  // REQUIRES: the request is not in flight already; `now` does not fall from call to call.
  void dispatched(std::uint32_t replica, const Request& request, Instant now);
  // REQUIRES: it was dispatched there and has not ended since.
  void finished(std::uint32_t replica, RequestId request, Instant now);
  // REQUIRES: nothing is in flight there (the owner has called finished() for what was lost).
  void forget(std::uint32_t replica);

  // For a decision trace: what choose() would return now, first, and then up to `most` - 1 others
  // in order of preference, as far as the policy looks at others. Takes linear time.
  std::vector<RouteScore> explain(const Request& request, std::size_t most);
  std::string_view score_meaning() const;

  // For a source of readings: see ReplicaBooks.
  TokenCount tokens_at_least_load(std::uint32_t replica) const {
    return books_.tokens_at_least_load(replica);
  }

  std::uint32_t replicas() const { return books_.replicas(); }
  std::uint32_t available() const { return books_.available().count(); }

 private:
  ReplicaBooks books_;
  std::unique_ptr<RoutingPolicy> policy_;
};

// Without readings of the signals that it needs, a policy goes by the router's own books.
NeededSignals needed_signals(const RouterOptions& options);

// REQUIRES: bounded_affinity: every replica's token_ns > 0.
std::unique_ptr<Router> make_router(const RouterOptions& options,
                                    std::span<const ReplicaTraits> replicas, std::uint64_t seed);

}  // namespace inferscale
