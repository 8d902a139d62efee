// session_affinity: a session stays on the replica that served it last, however loaded that is; a
// new session goes to the least loaded one.
//
// Homes are a table of first assignments, not a hash: a hash would ignore load when it places a
// session, rendezvous hashing costs linear time in the replicas, and both would send a session back
// to a replica that failed and returned, away from where its KV cache is by then. A session moves
// only when it has a request while its home is unavailable, and then stays at the new home.

#include "routing/policies/policies.h"
#include "routing/policies/ranking.h"
#include "routing/session_homes.h"

namespace inferscale {
namespace {

class SessionAffinity final : public RoutingPolicy {
 public:
  explicit SessionAffinity(std::int64_t most_sessions) : homes_(most_sessions) {}

  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request& request) const override {
    const std::optional<std::uint32_t> home = open_home(books, request);
    return home ? home : books.least();
  }
  void dispatched(std::uint32_t replica, const Request& request) override {
    homes_.dispatched(replica, request);
  }
  void replica_added(std::uint32_t, const ReplicaTraits&) override { homes_.replica_added(); }
  void forgotten(std::uint32_t replica) override { homes_.forgotten(replica); }

  std::vector<RouteScore> explain(ReplicaBooks& books, const Request& request,
                                  std::size_t most) const override {
    return chosen_and_least_loaded(books, choose(books, request), open_home(books, request), most);
  }
  std::string_view score_meaning() const override { return "requests / weight; home goes first"; }

 private:
  std::optional<std::uint32_t> open_home(ReplicaBooks& books, const Request& request) const {
    const std::optional<SessionHome> home = homes_.find(request);
    if (!home || !books.available().contains(home->replica)) return std::nullopt;
    return home->replica;
  }

  SessionHomes homes_;
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_session_affinity(const RouterOptions& options) {
  return std::make_unique<SessionAffinity>(options.most_sessions);
}

}  // namespace inferscale
