// Failures, returns and scaling.

#include <algorithm>

#include "base/check.h"
#include "sim/fleet_run.h"

namespace inferscale {

void FleetRun::change_fleet(Instant now) {
  changes_.clear();
  lifecycle_->advance(
      now, [this](std::size_t group, Instant at) { return load_of(group, at); }, changes_);
  if (!changes_.empty()) last_progress_ = now;
  for (const LifecycleChange& change : changes_) {
    switch (change.kind) {
      case LifecycleChange::Kind::kUp:
        come_up(change.replica, now);
        break;
      case LifecycleChange::Kind::kDraining:
        begin_draining(change.replica, now);
        break;
      case LifecycleChange::Kind::kFailed:
        fail(change.replica, now);
        break;
    }
  }
}

void FleetRun::come_up(std::uint32_t unit, Instant now) {
  units_[unit].was_up = true;
  for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
    pool_of(i).set_available(i, true);
    if (gate_) gate_->set_available(i, true, now);
  }
  place_waiting(now);
}

void FleetRun::place_waiting(Instant now) {
  while (!unplaced_.empty()) {
    const std::optional<std::uint32_t> index = front_->choose(unplaced_.front(), now);
    if (!index) break;
    Request request = unplaced_.front();
    unplaced_.pop_front();
    arrive_again(request, now);
    if (has_replica_doors()) {
      present(request, *index, now);
    } else {
      send(*index, request, now);
    }
  }
  while (!unplaced_decodes_.empty()) {
    ParkedSequence& parked = *parked_.find(unplaced_decodes_.front());
    if (!decode_->choose(parked.handoff.request, now)) break;
    unplaced_decodes_.pop_front();
    dispatch_parked(parked, now);
  }
}

void FleetRun::begin_draining(std::uint32_t unit, Instant now) {
  for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
    pool_of(i).set_available(i, false);
    if (gate_) gate_->set_available(i, false, now);
  }
  go_off_if_drained(unit, now);
}

void FleetRun::go_off_if_drained(std::uint32_t unit, Instant now) {
  if (lifecycle_->state(unit) != ReplicaState::kDraining) return;
  for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
    if (members_[i].custody > 0 || members_[i].parked > 0) return;
  }
  lifecycle_->drained(unit, now);
  // Whoever starts here next starts with an empty cache.
  for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
    current_ = i;
    const std::vector<Request> left = members_[i].replica->fail(now);
    CHECK(left.empty()) << "replica " << i << " was drained and is not empty";
    wakes_.set(i, members_[i].replica->next_wake());
    pool_of(i).restarted(i);
  }
}

void FleetRun::fail(std::uint32_t unit, Instant now) {
  std::vector<Request> victims;
  for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
    pool_of(i).set_available(i, false);
    if (gate_) gate_->set_available(i, false, now);
  }
  for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
    fail_member(i, now, victims);
  }
  restart_or_lose(victims, now);
}

void FleetRun::fail_member(std::uint32_t index, Instant now, std::vector<Request>& victims) {
  Member& member = members_[index];
  current_ = index;
  const std::vector<Request> inside = member.replica->fail(now);
  CHECK(std::cmp_equal(inside.size(), member.custody))
      << "replica " << index << " had " << member.custody << " requests and lost " << inside.size();
  member.custody = 0;
  for (const Request& request : inside) {
    pool_of(index).ended(index, request.id, now);
    if (checker_) checker_->on_taken_back(request.id);
    victims.push_back(request);
  }
  for (const RequestId id : is_split() ? parked_.touching(index) : std::vector<RequestId>()) {
    if (parked_.find(id)->from == index) victims.push_back(parked_.find(id)->handoff.request);
    unpark(id, index, now);
  }
  member.parked = 0;
  pool_of(index).restarted(index);
  touched(index, now);
}

void FleetRun::unpark(RequestId id, std::uint32_t failed, Instant now) {
  const ParkedSequence parked = parked_.take(id);
  if (parked.is_moving()) {
    link_->cut(id, now);
    ++result_.transfers.cut;
    if (checker_) checker_->on_transfer_cut(id);
  }
  if (parked.to == ParkedSequence::kNowhere) std::erase(unplaced_decodes_, id);
  if (parked.from == failed) {
    if (checker_) checker_->on_taken_back(id);
    if (parked.to == ParkedSequence::kNowhere) return;
    Member& to = members_[parked.to];
    --to.custody;
    to.replica->withdraw(id, now);
    decode_->ended(parked.to, id, now);
    touched(parked.to, now);
    return;
  }
  Member& from = members_[parked.from];
  --from.parked;
  from.replica->release(parked.handoff.ticket, now);
  touched(parked.from, now);
}

void FleetRun::restart_or_lose(std::vector<Request>& victims, Instant now) {
  std::sort(victims.begin(), victims.end(),
            [](const Request& a, const Request& b) { return a.id < b.id; });
  for (Request& request : victims) {
    if (gate_) gate_->taken_back(request.id, now);
    const bool may_retry = fleet_.failures.then == FailureOptions::Then::kRetry &&
                           ++times_failed_[request.id] <= fleet_.failures.max_retries;
    if (may_retry) {
      ++result_.fleet.retries;
      arrive_again(request, now);
      retries_.push_back(request);
    } else {
      ++result_.fleet.lost;
      // The connection breaks without an answer.
      end_without_replica(request, OutcomeStatus::kLost, Reason::kReplicaFailed, {.status = 0});
    }
  }
}

double FleetRun::load_of(std::size_t group, Instant now) {
  double running_ns = 0;
  double places = 1;  // of one replica
  for (const Member& member : members_) {
    if (member.group != group) continue;
    const std::int64_t running = member.replica->load_at(now).running;
    running_ns += member.replica->usage().sequence_ns +
                  static_cast<double>(running) * static_cast<double>((now - member.last_wake).ns());
    places =
        static_cast<double>(fleet_.groups[group].replica.max_num_seqs * fleet_.groups[group].ranks);
  }
  const double passed_ns = static_cast<double>((now - load_seen_at_[group]).ns());
  const double grown = running_ns - load_seen_[group];
  load_seen_[group] = running_ns;
  load_seen_at_[group] = now;
  return passed_ns > 0 ? std::max(0.0, grown) / (passed_ns * places) : 0;
}

}  // namespace inferscale
