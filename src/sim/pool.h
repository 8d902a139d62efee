// The replicas behind one router: what the router is told of them, and when.
//
// A pool that can only ever be one rank has no router: there is nothing to choose. With a staleness
// of s the loads are read at the instants 0, s, 2 s, ...: after all that happens at such an
// instant, so who comes at that very instant is still routed by the reading before. With s = 0 a
// replica is read whenever something happens at it; between its events a reading stays as it is.
// Only what the policy looks at is read.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replica/replica.h"
#include "routing/router.h"

namespace inferscale {

class Pool {
 public:
  struct Member {
    const Replica* replica;
    BlockCount kv_blocks;
    ReplicaTraits traits;
  };
  // `begin`: the fleet index of the first. `changes`: members may become unavailable.
  Pool(const RouterOptions& options, std::uint32_t begin, std::vector<Member> members, bool changes,
       std::uint64_t seed);

  // Everything below goes by fleet index.
  std::optional<std::uint32_t> choose(const Request& request, Instant now) {
    if (!router_) return begin_;
    if (sees_present_) see_present(now);
    const std::optional<std::uint32_t> chosen = router_->choose(request);
    return chosen ? std::optional(begin_ + *chosen) : std::nullopt;
  }
  // For a decision trace, as Router::explain(); its replicas count from begin().
  std::vector<RouteScore> explain(const Request& request, std::size_t most) const;
  std::string_view score_meaning() const {
    return router_ ? router_->score_meaning() : "the only replica";
  }
  void dispatched(std::uint32_t index, const Request& request, Instant now) {
    if (router_) router_->dispatched(index - begin_, request, now);
  }
  void ended(std::uint32_t index, RequestId id, Instant now) {
    if (router_) router_->finished(index - begin_, id, now);
  }
  // REQUIRES: the pool changes, as for restarted().
  void set_available(std::uint32_t index, bool available);
  // It lost its cache; nothing is in flight there.
  void restarted(std::uint32_t index) { router_->forget(index - begin_); }

  // Something happened at the replica.
  void touched(std::uint32_t index) {
    if (reads_) note(index - begin_);
  }
  // Before the events at `now`: reads what was due before.
  void read_until(Instant now) {
    if (reads_ && now > next_reading_) read_due(now);
  }

  std::uint32_t begin() const { return begin_; }
  bool contains(std::uint32_t index) const {
    return index >= begin_ && index - begin_ < members_.size();
  }

 private:
  void note(std::uint32_t member);
  void read_due(Instant now);
  void see_present(Instant now);
  // The state at `at`, which the router is told at `told`.
  void read(std::uint32_t member, Instant at, Instant told);
  bool moves(std::uint32_t member) const;
  void forget_changes();

  std::uint32_t begin_;
  std::vector<Member> members_;
  std::unique_ptr<Router> router_;
  NeededSignals needed_;
  bool reads_ = false;
  bool sees_present_ = false;  // it reads, and readings are never old
  Instant seen_ = Instant::never();
  Duration staleness_;
  Instant next_reading_ = Instant::never();
  std::vector<std::uint8_t> changed_;  // by member, since the last reading
  std::vector<std::uint32_t> changes_;
};

}  // namespace inferscale
