// Who gets in, and callers who leave.

#include <algorithm>

#include "base/check.h"
#include "sim/fleet_run.h"

namespace inferscale {

void FleetRun::make_door() {
  std::vector<DoorMember> members;
  const bool both = fleet_.door->scope == DoorScope::kFleet;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!both && !front_->contains(i)) continue;
    const ReplicaOptions& options = group_of(i).replica;
    members.push_back({.replica = members_[i].replica.get(),
                       .kv_blocks = options.kv_blocks,
                       .kv_tokens = kv_tokens(options),
                       .caches_prefixes = options.prefix_caching});
  }
  gate_ = std::make_unique<Door>(*fleet_.door, std::move(members));
  for (std::uint32_t unit = 0; lifecycle_ && unit < units_.size(); ++unit) {
    if (units_[unit].was_up) continue;
    for (std::uint32_t i = units_[unit].begin; i < units_[unit].end; ++i) {
      gate_->set_available(i, false, Instant());
    }
  }
}

void FleetRun::enter(const Request& request, Instant now) {
  if (gate_->scope() != DoorScope::kReplica) {
    present(request, 0, now);
    return;
  }
  const std::optional<std::uint32_t> index = front_->choose(request, now);
  if (options_.observer != nullptr) tell_choice(*front_, request, now);
  // Nobody is up, so nobody decides: it waits for a replica, and then for its door.
  if (index) {
    present(request, *index, now);
  } else {
    wait_for_replica(request);
  }
}

void FleetRun::present(const Request& request, std::uint32_t replica, Instant now) {
  after_presentation(request, now, gate_->present(request, replica, has_failed(request.id), now),
                     replica);
}

void FleetRun::after_presentation(const Request& request, Instant now, const Presented& presented,
                                  std::uint32_t replica) {
  switch (presented.kind) {
    case Presented::Kind::kAdmitted:
      if (gate_->scope() == DoorScope::kReplica) {
        send(replica, request, now);
      } else {
        dispatch(request, now);
      }
      return;
    case Presented::Kind::kHeld:
      pass_over(replica, request, now);
      return;
    case Presented::Kind::kAnswered:
      pass_over(replica, request, now);
      end_without_replica(request,
                          presented.decision.verdict == Verdict::kDefer ? OutcomeStatus::kDeferred
                                                                        : OutcomeStatus::kRefused,
                          presented.decision.reason, presented.answer);
      return;
  }
}

// A replica whose own door did not let it in: the router has had its turn, and goes on.
void FleetRun::pass_over(std::uint32_t replica, const Request& request, Instant now) {
  if (!has_replica_doors()) return;
  front_->dispatched(replica, request, now);
  front_->ended(replica, request.id, now);
}

void FleetRun::advance_door(Instant now) {
  if (has_lookers_) look_on_until(now);
  clock_.advance_to(now);
  ++result_.events;
  gate_->advance(now);
  if (was_told_) look_ahead();
  note_releases(now);
}

// Whom the gate lets go at an instant comes out a nanosecond later, as an arrival: behind
// everything else that happens at it (simulator.h).
void FleetRun::note_releases(Instant now) {
  if (releases_at_ == Instant::never() && gate_->has_releases()) {
    releases_at_ = now + Duration::nanos(1);
  }
}

void FleetRun::take_releases(Instant now) {
  releases_at_ = Instant::never();
  last_progress_ = now;
  for (Door::Released& released : gate_->take_releases()) {
    if (released.presented.kind == Presented::Kind::kAdmitted) {
      arrive_again(released.request, now);
      if (checker_) checker_->on_held(released.request.id);
    }
    after_presentation(released.request, now, released.presented, released.replica);
  }
}

void FleetRun::first_token(RequestId id, Instant now) {
  if (gate_ != nullptr) gate_->first_token(id, now);
}

Answer FleetRun::answer_to(const Outcome& outcome) const {
  switch (outcome.status) {
    case OutcomeStatus::kFinished:
      return {.status = 200};
    case OutcomeStatus::kRefused:
      return {.status = status_.rejected(outcome.reason)};
    default:
      return {.status = 0};
  }
}

// The caller of a request closes its connection: the request ends wherever it is.
void FleetRun::leave(Instant now) {
  const RequestId id = reactive_->take_leaver();
  // Its client may try again at once, before this attempt has ended.
  was_told_ = true;
  last_progress_ = now;
  if (gate_ != nullptr) {
    if (const std::optional<Request> held = gate_->withdraw(id, now)) {
      end_leaver(*held);
      return;
    }
  }
  if (take_from_way(id, now)) return;
  const std::uint32_t index = result_.outcomes[id].replica;
  current_ = index;
  // It may have ended at this very instant.
  if (members_[index].replica->cancel(id, now)) touched(index, now);
}

void FleetRun::end_leaver(const Request& request) {
  end_without_replica(request, OutcomeStatus::kAbandoned, Reason::kClientGone, {.status = 0});
}

// Of those in no replica's hands: waiting for one to come up, or between two.
bool FleetRun::take_from_way(RequestId id, Instant now) {
  for (std::deque<Request>* waiting : {&unplaced_, &retries_}) {
    const auto place = std::find_if(waiting->begin(), waiting->end(),
                                    [id](const Request& request) { return request.id == id; });
    if (place == waiting->end()) continue;
    const Request request = *place;
    waiting->erase(place);
    end_leaver(request);
    return true;
  }
  return is_split() && take_parked(id, now);
}

bool FleetRun::take_parked(RequestId id, Instant now) {
  if (parked_.find(id) == nullptr) return false;
  const ParkedSequence parked = parked_.take(id);
  if (parked.is_moving()) {
    link_->cut(id, now);
    ++result_.transfers.cut;
    if (checker_) checker_->on_transfer_cut(id);
  }
  if (checker_) checker_->on_taken_back(id);
  Member& from = members_[parked.from];
  --from.parked;
  from.replica->release(parked.handoff.ticket, now);
  touched(parked.from, now);
  if (parked.to == ParkedSequence::kNowhere) {
    std::erase(unplaced_decodes_, id);
  } else {
    Member& to = members_[parked.to];
    --to.custody;
    to.replica->withdraw(id, now);
    decode_->ended(parked.to, id, now);
    touched(parked.to, now);
  }
  end_leaver(parked.handoff.request);
  return true;
}

}  // namespace inferscale
