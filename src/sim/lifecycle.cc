#include "sim/lifecycle.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "base/check.h"
#include "base/distributions.h"

namespace inferscale {
namespace {

Duration exponential(RandomStream& stream, Duration mean) {
  return Duration::nanos(std::llround(draw_exponential(stream) * static_cast<double>(mean.ns())));
}

bool is_there(ReplicaState state) {
  return state == ReplicaState::kStarting || state == ReplicaState::kUp ||
         state == ReplicaState::kFailed;
}

bool is_held(ReplicaState state) {
  return state == ReplicaState::kStarting || state == ReplicaState::kUp ||
         state == ReplicaState::kDraining;
}

}  // namespace

std::int64_t LifecycleOptions::Group::most() const {
  std::int64_t most = replicas;
  if (!scaling) return most;
  for (const ScalingStep& step : scaling->schedule) most = std::max(most, step.replicas);
  return scaling->autoscale ? std::max(most, scaling->autoscale->max) : most;
}

bool Lifecycle::Event::operator>(const Event& other) const {
  return std::tie(at, kind, subject, detail) >
         std::tie(other.at, other.kind, other.subject, other.detail);
}

Lifecycle::Lifecycle(const LifecycleOptions& options) : options_(options) {
  for (std::uint32_t group = 0; group < options_.groups.size(); ++group) {
    const LifecycleOptions::Group& configured = options_.groups[group];
    GroupState state{.begin = static_cast<std::uint32_t>(replicas_.size())};
    replicas_.resize(replicas_.size() + static_cast<std::size_t>(configured.most()),
                     {.group = group});
    state.end = static_cast<std::uint32_t>(replicas_.size());
    groups_.push_back(state);
    if (!configured.scaling) continue;
    for (std::uint32_t i = 0; i < configured.scaling->schedule.size(); ++i) {
      plan({configured.scaling->schedule[i].at, EventKind::kScheduleStep, group, kAnyLife, i});
    }
    if (const auto& autoscale = configured.scaling->autoscale) {
      plan({Instant() + autoscale->interval, EventKind::kTick, group, kAnyLife, 0});
      patience_ = std::max(patience_, autoscale->cooldown + autoscale->interval * 2);
    }
  }
  for (std::uint32_t replica = 0; options_.random_failures && replica < replicas_.size();
       ++replica) {
    streams_.emplace_back(options_.seed, "failures." + std::to_string(replica));
  }
  for (std::uint32_t i = 0; i < options_.failures.size(); ++i) {
    const PlannedFailure& failure = options_.failures[i];
    CHECK(failure.replica < replicas_.size()) << "no replica " << failure.replica;
    plan({failure.at, EventKind::kFail, failure.replica, kAnyLife, i + 1});
  }
  std::vector<LifecycleChange> unused;  // replicas are up at the start without being told
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    for (std::int64_t i = 0; i < options_.groups[group].replicas; ++i) {
      come_up(groups_[group].begin + static_cast<std::uint32_t>(i), Instant(), unused);
    }
  }
}

void Lifecycle::plan(const Event& event) {
  if (event.kind != EventKind::kFail && event.kind != EventKind::kTick) ++hopeful_;
  events_.push_back(event);
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

bool Lifecycle::is_stale(const Event& event) const {
  return event.life != kAnyLife && event.life != replicas_[event.subject].life;
}

void Lifecycle::drop_stale() {
  while (!events_.empty() && is_stale(events_.front())) {
    const EventKind kind = events_.front().kind;
    if (kind != EventKind::kFail && kind != EventKind::kTick) --hopeful_;
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    events_.pop_back();
  }
}

Instant Lifecycle::next() const {
  return events_.empty() ? Instant::never() : events_.front().at;
}

void Lifecycle::enter(std::uint32_t replica, ReplicaState state, Instant now) {
  State& own = replicas_[replica];
  if (is_held(own.state) && !is_held(state)) own.held += now - own.since;
  if (!is_held(own.state) && is_held(state)) own.since = now;
  own.state = state;
  // A draining replica that is taken back still fails when it was going to.
  if (state != ReplicaState::kDraining) ++own.life;
}

Duration Lifecycle::held(std::uint32_t replica, Instant now) const {
  const State& own = replicas_[replica];
  return is_held(own.state) ? own.held + (now - own.since) : own.held;
}

void Lifecycle::come_up(std::uint32_t replica, Instant now, std::vector<LifecycleChange>& changes) {
  enter(replica, ReplicaState::kUp, now);
  changes.push_back({LifecycleChange::Kind::kUp, replica});
  if (!options_.random_failures) return;
  const Duration life = exponential(streams_[replica], options_.random_failures->mtbf);
  plan({now + life, EventKind::kFail, replica, replicas_[replica].life, 0});
}

void Lifecycle::fail(const Event& event, std::vector<LifecycleChange>& changes) {
  const std::uint32_t replica = event.subject;
  const ReplicaState before = replicas_[replica].state;
  if (before != ReplicaState::kUp && before != ReplicaState::kDraining) return;
  std::optional<Duration> away;
  if (event.detail > 0) {
    away = options_.failures[event.detail - 1].return_after;
  } else {
    away = exponential(streams_[replica], options_.random_failures->mttr);
  }
  ++failures_;
  // One that was to go off anyway does not come back.
  const bool returns = before == ReplicaState::kUp && away.has_value();
  enter(replica, returns ? ReplicaState::kFailed : ReplicaState::kOff, event.at);
  if (returns) {
    plan({event.at + *away, EventKind::kReturn, replica, replicas_[replica].life, 0});
  }
  changes.push_back({LifecycleChange::Kind::kFailed, replica});
}

void Lifecycle::advance(Instant now, const LoadOf& load_of, std::vector<LifecycleChange>& changes) {
  const Event event = events_.front();
  DCHECK(event.at == now);
  std::pop_heap(events_.begin(), events_.end(), std::greater<>());
  events_.pop_back();
  if (event.kind != EventKind::kFail && event.kind != EventKind::kTick) --hopeful_;
  switch (event.kind) {
    case EventKind::kReturn:
    case EventKind::kStarted:
      come_up(event.subject, now, changes);
      break;
    case EventKind::kFail:
      fail(event, changes);
      break;
    case EventKind::kScheduleStep: {
      const ScalingOptions& scaling = *options_.groups[event.subject].scaling;
      scale_to(event.subject, scaling.schedule[event.detail].replicas, now, changes);
      break;
    }
    case EventKind::kTick:
      tick(event.subject, now, load_of, changes);
      break;
  }
  drop_stale();
}

void Lifecycle::tick(std::uint32_t group, Instant now, const LoadOf& load_of,
                     std::vector<LifecycleChange>& changes) {
  const AutoscaleOptions& autoscale = *options_.groups[group].scaling->autoscale;
  plan({now + autoscale.interval, EventKind::kTick, group, kAnyLife, 0});
  const double load = load_of(group, now);
  const std::optional<Instant>& last = groups_[group].last_change;
  if (last && now - *last < autoscale.cooldown) {
    // The least is kept up at once, whatever was changed before.
    if (count_there(group) < autoscale.min) scale_to(group, autoscale.min, now, changes);
    return;
  }
  // A billionth, so that a load of exactly so many targets does not ask for one more.
  const double wanted = std::ceil(load / autoscale.target_utilisation - 1e-9);
  const auto most = static_cast<double>(autoscale.max);
  scale_to(group, std::max(autoscale.min, static_cast<std::int64_t>(std::clamp(wanted, 0.0, most))),
           now, changes);
}

std::int64_t Lifecycle::count_there(std::uint32_t group) const {
  const GroupState& own = groups_[group];
  std::int64_t there = 0;
  for (std::uint32_t i = own.begin; i < own.end; ++i) there += is_there(replicas_[i].state) ? 1 : 0;
  return there;
}

void Lifecycle::scale_to(std::uint32_t group, std::int64_t wanted, Instant now,
                         std::vector<LifecycleChange>& changes) {
  std::int64_t there = count_there(group);
  if (there == wanted) return;
  groups_[group].last_change = now;
  for (; there < wanted; ++there) {
    if (!start_one(group, now, changes)) return;
  }
  for (; there > wanted; --there) stop_one(group, now, changes);
}

bool Lifecycle::start_one(std::uint32_t group, Instant now, std::vector<LifecycleChange>& changes) {
  const auto first_in = [&](ReplicaState state) {
    std::uint32_t i = groups_[group].begin;
    while (i < groups_[group].end && replicas_[i].state != state) ++i;
    return i;
  };
  if (const std::uint32_t back = first_in(ReplicaState::kDraining); back < groups_[group].end) {
    replicas_[back].state = ReplicaState::kUp;
    changes.push_back({LifecycleChange::Kind::kUp, back});
    return true;
  }
  const std::uint32_t replica = first_in(ReplicaState::kOff);
  if (replica == groups_[group].end) return false;
  const Duration delay = options_.groups[group].scaling->startup_delay;
  enter(replica, ReplicaState::kStarting, now);
  if (delay == Duration()) {
    come_up(replica, now, changes);
  } else {
    plan({now + delay, EventKind::kStarted, replica, replicas_[replica].life, 0});
  }
  return true;
}

void Lifecycle::stop_one(std::uint32_t group, Instant now, std::vector<LifecycleChange>& changes) {
  for (const ReplicaState state :
       {ReplicaState::kStarting, ReplicaState::kFailed, ReplicaState::kUp}) {
    for (std::uint32_t i = groups_[group].end; i-- > groups_[group].begin;) {
      if (replicas_[i].state != state) continue;
      if (state != ReplicaState::kUp) {
        enter(i, ReplicaState::kOff, now);
      } else {
        enter(i, ReplicaState::kDraining, now);
        changes.push_back({LifecycleChange::Kind::kDraining, i});
      }
      return;
    }
  }
}

void Lifecycle::drained(std::uint32_t replica, Instant now) {
  CHECK(replicas_[replica].state == ReplicaState::kDraining) << "replica " << replica;
  enter(replica, ReplicaState::kOff, now);
  drop_stale();
}

}  // namespace inferscale
