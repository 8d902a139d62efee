// The replicas behind one router: what the router is told of them, and when.
//
// A pool that can only ever be one rank has no router: there is nothing to choose. With a staleness
// of s the loads are read at the instants 0, s, 2 s, ...: after all that happens at such an
// instant, so who comes at that very instant is still routed by the reading before. With s = 0 a
// choice is made by the state just before its instant (present_readings.h): steps that end at it
// have not ended yet, whether or not they are events of their own (a segment's are not); what was
// dispatched at it counts. Only what the policy looks at is read.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "routing/router.h"
#include "sim/pool_member.h"
#include "sim/present_readings.h"

namespace inferscale {

class Pool {
 public:
  // `begin`: the fleet index of the first. `changes`: members may become unavailable.
  Pool(const RouterOptions& options, std::uint32_t begin, std::vector<PoolMember> members,
       bool changes, std::uint64_t seed);

  // Everything below goes by fleet index.
  std::optional<std::uint32_t> choose(const Request& request, Instant now) {
    if (!router_) return begin_;
    if (present_) present_->begin_choice(now);
    const std::optional<std::uint32_t> chosen = router_->choose(request);
    return chosen ? std::optional(begin_ + *chosen) : std::nullopt;
  }
  // For a decision trace, after choose(), as Router::explain(); its replicas count from begin().
  std::vector<RouteScore> explain(const Request& request, std::size_t most);
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
  void restarted(std::uint32_t index) {
    router_->forget(index - begin_);
    if (present_) present_->forgotten(index - begin_);
  }

  // Something happened at the replica.
  void touched(std::uint32_t index) {
    if (present_) {
      present_->touched(index - begin_);
    } else if (reads_) {
      note(index - begin_);
    }
  }
  // Before the events at `now`: reads what was due before.
  void read_until(Instant now) {
    if (reads_ && now > next_reading_) read_due(now);
  }

  bool reads() const { return reads_; }
  std::uint32_t begin() const { return begin_; }
  bool contains(std::uint32_t index) const {
    return index >= begin_ && index - begin_ < members_.size();
  }

 private:
  void note(std::uint32_t member);
  void read_due(Instant now);
  void read(std::uint32_t member, Instant at);
  bool moves(std::uint32_t member) const;

  std::uint32_t begin_;
  std::vector<PoolMember> members_;
  std::unique_ptr<Router> router_;
  NeededSignals needed_;
  bool reads_ = false;
  std::unique_ptr<PresentReadings> present_;  // where it reads, and readings are never old
  Duration staleness_;
  Instant next_reading_ = Instant::never();
  std::vector<std::uint8_t> changed_;  // by member, since the last reading
  std::vector<std::uint32_t> changes_;
};

}  // namespace inferscale
