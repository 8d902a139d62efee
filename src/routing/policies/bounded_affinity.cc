// bounded_affinity: a session stays where its KV cache is, unless it would wait there longer than
// at the least loaded replica by more than a slack.
//
//   wait(replica) = tokens in flight x token_ns        expected, for a newcomer
//   home if wait(home) - wait(least) <= affinity_slack, else least
//
// The estimate is simple on purpose: every token in flight, to prefill or to generate, counts the
// same time, and the time that the cache saves is not in it (the slack stands for it). A session
// that moves has its home at the new replica from then on. A home that started anew has no cache,
// so it is none. Slack 0 is least load by wait but for ties; an endless slack is session_affinity.

#include "routing/policies/policies.h"
#include "routing/policies/ranking.h"
#include "routing/session_homes.h"

namespace inferscale {
namespace {

class BoundedAffinity final : public RoutingPolicy {
 public:
  explicit BoundedAffinity(const RouterOptions& options)
      : slack_ns_(static_cast<double>(options.affinity_slack.ns())),
        homes_(options.most_sessions) {}

  std::optional<std::uint32_t> choose(ReplicaBooks& books, const Request& request) const override {
    const std::optional<std::uint32_t> home = open_home(books, request);
    if (!home) return books.least();
    // Bounds, which cost less than present loads, mostly tell.
    const ReplicaBooks::LoadBounds at_home = books.bounds(*home);
    if (at_home.most - books.least_bound() <= slack_ns_) return home;
    const std::optional<std::uint32_t> least = books.least();
    if (at_home.least - books.key(*least).load > slack_ns_) return least;
    const double extra_ns = books.key(*home).load - books.key(*least).load;
    return extra_ns <= slack_ns_ ? home : least;
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
  std::string_view score_meaning() const override {
    return "expected wait in ns; home goes first within the slack";
  }

 private:
  std::optional<std::uint32_t> open_home(ReplicaBooks& books, const Request& request) const {
    const std::optional<SessionHome> home = homes_.find(request);
    if (!home || !home->has_cache || !books.available().contains(home->replica)) {
      return std::nullopt;
    }
    return home->replica;
  }

  double slack_ns_;
  SessionHomes homes_;
};

}  // namespace

std::unique_ptr<RoutingPolicy> make_bounded_affinity(const RouterOptions& options) {
  return std::make_unique<BoundedAffinity>(options);
}

}  // namespace inferscale
