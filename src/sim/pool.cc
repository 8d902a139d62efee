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
  sees_present_ = reads_ && staleness_ == Duration();
  if (!sees_present_) next_reading_ = Instant();
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

void Pool::forget_changes() {
  for (const std::uint32_t member : changes_) changed_[member] = 0;
  changes_.clear();
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
      if (moves(member)) read(member, at, at);
    }
  } else {
    for (const std::uint32_t member : changes_) read(member, at, at);
  }
  forget_changes();
}

// Readings of this instant. Steps that end at it have not ended yet, whether or not they are events
// of their own (a segment's are not); what was dispatched at it counts.
void Pool::see_present(Instant now) {
  const Instant before = now > Instant() ? now - Duration::nanos(1) : now;
  if (seen_ == now) {
    for (const std::uint32_t member : changes_) read(member, before, now);
  } else {
    for (std::uint32_t member = 0; member < members_.size(); ++member) {
      if (moves(member)) read(member, before, now);
    }
  }
  seen_ = now;
  forget_changes();
}

void Pool::read(std::uint32_t member, Instant at, Instant told) {
  const ReplicaLoad load = members_[member].replica->load_at(at);
  ReplicaSignals signals{.observed_at = told};
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
