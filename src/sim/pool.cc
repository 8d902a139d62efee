#include "sim/pool.h"

#include "base/check.h"

namespace inferscale {

Pool::Pool(const RouterOptions& options, std::uint32_t begin, std::vector<Member> members,
           bool changes, std::uint64_t seed)
    : begin_(begin), members_(std::move(members)), staleness_(options.staleness) {
  if (members_.size() == 1 && !changes) return;
  std::vector<ReplicaTraits> traits;
  for (const Member& member : members_) traits.push_back(member.traits);
  router_ = make_router(options, traits, seed);
  needed_ = needed_signals(options);
  reads_ = needed_.any();
  changed_.assign(members_.size(), 0);
  if (staleness_ > Duration()) next_reading_ = Instant();
}

void Pool::set_available(std::uint32_t index, bool available) {
  CHECK(router_ != nullptr) << "replica " << index << " is in a pool that does not change";
  router_->set_available(index - begin_, available);
}

void Pool::note(std::uint32_t member, Instant now) {
  if (staleness_ == Duration()) {
    // Where more happens at this instant, the reading comes after it.
    if (members_[member].replica->next_wake() > now) read(member, now);
    return;
  }
  if (changed_[member] != 0) return;
  changed_[member] = 1;
  changes_.push_back(member);
}

void Pool::read_due(Instant now) {
  // Nothing happened since the last instant of the grid before `now`.
  const std::int64_t step = staleness_.ns();
  const std::int64_t last = (now.ns() - 1) / step;
  const Instant at = Instant::nanos(last * step);
  next_reading_ = at + staleness_;
  if (needed_.kv || needed_.tokens) {
    // These change between the events of a replica, too.
    for (std::uint32_t member = 0; member < members_.size(); ++member) {
      const bool busy = members_[member].replica->next_wake() != Instant::never();
      if (busy || changed_[member] != 0) read(member, at);
    }
  } else {
    for (const std::uint32_t member : changes_) read(member, at);
  }
  for (const std::uint32_t member : changes_) changed_[member] = 0;
  changes_.clear();
}

void Pool::read(std::uint32_t member, Instant at) {
  const ReplicaLoad load = members_[member].replica->load_at(at);
  ReplicaSignals signals{.observed_at = at};
  if (needed_.queue) {
    signals.queue_depth = load.queue_depth;
    signals.running = load.running;
  }
  if (needed_.kv) {
    signals.kv_used_fraction =
        static_cast<double>(load.kv_blocks_held) / static_cast<double>(members_[member].kv_blocks);
  }
  if (needed_.tokens) signals.tokens_in_flight = load.tokens_in_flight;
  router_->observe(member, signals);
}

std::vector<RouteScore> Pool::explain(const Request& request, std::size_t most) const {
  if (router_) return router_->explain(request, most);
  return {RouteScore{.replica = 0}};
}

}  // namespace inferscale
