#include "sim/pool.h"

#include "base/check.h"

namespace inferscale {

Pool::Pool(const RouterOptions& options, std::uint32_t begin, std::vector<PoolMember> members,
           bool changes, std::uint64_t seed)
    : begin_(begin), members_(std::move(members)), staleness_(options.staleness) {
  if (members_.size() == 1 && !changes) return;
  std::vector<ReplicaTraits> traits;
  for (const PoolMember& member : members_) traits.push_back(member.traits);
  router_ = make_router(options, traits, seed);
  needed_ = needed_signals(options);
  reads_ = needed_.any();
  changed_.assign(members_.size(), 0);
  if (reads_ && staleness_ == Duration()) {
    present_ = std::make_unique<PresentReadings>(members_, *router_, needed_);
  } else {
    next_reading_ = Instant();
  }
}

void Pool::set_available(std::uint32_t index, bool available) {
  CHECK(router_ != nullptr) << "replica " << index << " is in a pool that does not change";
  router_->set_available(index - begin_, available);
}

void Pool::note(std::uint32_t member) {
  if (changed_[member] != 0) return;
  changed_[member] = 1;
  changes_.push_back(member);
}

// Whether the steps of a replica change what is read of it, without an event of its own.
bool Pool::moves(std::uint32_t member) const {
  return changed_[member] != 0 || members_[member].replica->next_wake() != Instant::never();
}

void Pool::read_due(Instant now) {
  // Nothing happened since the last instant of the grid before `now`.
  const std::int64_t step = staleness_.ns();
  const std::int64_t last = (now.ns() - 1) / step;
  const Instant at = Instant::nanos(last * step);
  next_reading_ = at + staleness_;
  if (needed_.kv || needed_.tokens) {
    for (std::uint32_t member = 0; member < members_.size(); ++member) {
      if (moves(member)) read(member, at);
    }
  } else {
    for (const std::uint32_t member : changes_) read(member, at);
  }
  for (const std::uint32_t member : changes_) changed_[member] = 0;
  changes_.clear();
}

void Pool::read(std::uint32_t member, Instant at) {
  const ReplicaLoad load = members_[member].replica->load_at(at);
  router_->observe(member, signals_of(members_[member], load, needed_, at));
}

std::vector<RouteScore> Pool::explain(const Request& request, std::size_t most) {
  if (router_) return router_->explain(request, most);
  return {RouteScore{.replica = 0}};
}

}  // namespace inferscale
