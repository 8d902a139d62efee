#include "sim/fleet_run.h"

#include <algorithm>

#include "base/check.h"
#include "replica/sequence.h"

namespace inferscale {
namespace {

constexpr std::uint64_t kEventsBetweenLooks = 4096;  // at the stop flag and the progress

}  // namespace

SimulationResult FleetRun::run() {
  look_ahead();
  while (step()) {
    if (result_.events % kEventsBetweenLooks != 0) continue;
    if (control_.progress) control_.progress(result_.outcomes.size());
    if (should_stop()) {
      result_.interrupted = true;
      break;
    }
  }
  result_.end = clock_.now();
  const bool cut_short = result_.interrupted || result_.beyond_time;
  if (!cut_short && in_system_ > 0) result_.stuck = why_stuck();
  // The series ends with the first sample that sees the last event; a run that was cut short ends
  // with the last one before it, since the replicas can't be asked about a time they have not
  // reached.
  sampler_.sample_until(result_.end);
  if (!cut_short) sampler_.sample_once_more();
  result_.signals = sampler_.take_rows();
  result_.signals_interval = sampler_.interval();
  result_.signals_thinned = sampler_.was_thinned();
  result_.signals_of_fleet = !samples_each();
  flush();
  add_up(result_);
  if (reactive_ != nullptr) add_records();
  result_.gaps = std::move(gaps_);
  if (checker_) {
    checker_->on_end(result_.outcomes, !cut_short && result_.stuck.empty());
    result_.violations = checker_->violations();
  }
  return std::move(result_);
}

inline bool FleetRun::step() {
  const Instant arrival = has_upcoming_ ? upcoming_.arrival : Instant::never();
  const Instant wake_at = wakes_.first_at();
  Instant now = std::min(arrival, wake_at);
  Instant change = Instant::never();
  if (has_changes_) {
    change = next_change();
    if (is_stuck(now)) return false;
    now = std::min(now, change);
  }
  // The door's own events come behind everything else at their instant.
  if (gate_ != nullptr && gate_->next() < now) {
    if (now == Instant::never() && !gate_->holds_anyone()) return false;
    advance_door(gate_->next());
    return true;
  }
  if (now >= kEndOfTime) {
    result_.beyond_time = now != Instant::never();
    return false;
  }
  if (has_lookers_) look_on_until(now);
  clock_.advance_to(now);
  ++result_.events;
  if (arrival == now) {
    arrive();
  } else if (change == now) {
    handle_change(now);
  } else {
    wake(wakes_.first(), now);
  }
  if (was_told_) look_ahead();
  if (gate_ != nullptr) note_releases(now);
  return true;
}

void FleetRun::look_on_until(Instant now) {
  front_->read_until(now);
  if (decode_) decode_->read_until(now);
  sampler_.sample_until(now);
}

void FleetRun::look_ahead() {
  was_told_ = false;
  if (reactive_ == nullptr) {
    has_upcoming_ = source_.next(upcoming_);
    return;
  }
  // Taken only when its time has come: until then an end may bring about an earlier one.
  upcoming_.arrival = reactive_->next_at();
  // One that an end brings about at its very instant comes behind everything else that happens
  // then, whether or not a step of its replica that ends there is an event of its own.
  if (upcoming_.arrival <= told_at_) upcoming_.arrival = told_at_ + Duration::nanos(1);
  has_upcoming_ = upcoming_.arrival != Instant::never();
  leave_at_ = reactive_->next_leave();
}

Instant FleetRun::next_change() const {
  Instant next = retries_.empty() ? std::min(leave_at_, releases_at_) : clock_.now();
  if (link_) next = std::min(next, link_->next());
  // Once everything has ended the fleet may be left as it is.
  if (lifecycle_ && (in_system_ > 0 || has_upcoming_)) next = std::min(next, lifecycle_->next());
  return next;
}

bool FleetRun::is_stuck(Instant next_of_others) const {
  if (!lifecycle_ || in_system_ == 0 || next_of_others != Instant::never()) return false;
  // Whoever is held will be let go.
  if (gate_ && gate_->holds_anyone()) return false;
  if (!retries_.empty() || (link_ && link_->under_way() > 0)) return false;
  if (lifecycle_->has_hope()) return false;
  const Instant next = lifecycle_->next();
  return next == Instant::never() || next - last_progress_ > lifecycle_->patience();
}

void FleetRun::handle_change(Instant now) {
  if (releases_at_ <= now) {
    take_releases(now);
    return;
  }
  if (leave_at_ <= now) {
    leave(now);
    return;
  }
  if (lifecycle_ && lifecycle_->next() == now) {
    change_fleet(now);
    return;
  }
  last_progress_ = now;
  if (link_ && link_->next() == now) {
    end_transfers(now);
    return;
  }
  const Request request = retries_.front();
  retries_.pop_front();
  if (has_replica_doors()) {
    enter(request, now);
  } else {
    dispatch(request, now);
  }
}

// `inline`, here and below: on the way of every event and with one caller, a call would cost as
// much as what they do.
inline void FleetRun::wake(std::uint32_t index, Instant now) {
  Member& member = members_[index];
  last_progress_ = now;
  current_ = index;
  member.last_wake = now;
  member.replica->wake(now);
  touched(index, now);
  if (link_) pass_on(index, now);
}

void FleetRun::pass_on(std::uint32_t index, Instant now) {
  hand_over_pending(index, now);
  for (const auto& [id, resident_tokens] : reservations_) {
    start_transfer(id, resident_tokens, now);
  }
  reservations_.clear();
}

void FleetRun::look_after(std::uint32_t index, Instant now) {
  const Member& member = members_[index];
  if (checker_) checker_->on_event(now, index, *member.replica);
  if (lifecycle_ && member.custody == 0) go_off_if_drained(member.unit, now);
}

inline void FleetRun::arrive() {
  if (reactive_ != nullptr) {
    const Instant at = upcoming_.arrival;
    CHECK(reactive_->next(upcoming_) && upcoming_.arrival <= at)
        << "the source has no request at " << at.ns() << " ns, as it said";
    upcoming_.arrival = at;
  }
  CHECK(upcoming_.id == result_.outcomes.size()) << "request ids are not dense";
  result_.outcomes.emplace_back().arrival = upcoming_.arrival;
  if (fleet_.has_slo_classes) result_.slo_class.push_back(upcoming_.slo_class);
  last_progress_ = upcoming_.arrival;
  ++in_system_;
  if (checker_) checker_->on_arrival(upcoming_.id);
  const Reason reason = is_split() ? refusal_by_split(upcoming_) : Reason::kNone;
  if (reason != Reason::kNone) {
    end_without_replica(upcoming_, OutcomeStatus::kRefused, reason,
                        {.status = status_.rejected(reason)});
  } else if (gate_ != nullptr) {
    enter(upcoming_, upcoming_.arrival);
  } else {
    dispatch(upcoming_, upcoming_.arrival);
  }
  look_ahead();
}

void FleetRun::dispatch(const Request& request, Instant now) {
  if (is_alone_ && options_.observer == nullptr) {
    send(0, request, now);
    return;
  }
  const std::optional<std::uint32_t> index = front_->choose(request, now);
  if (options_.observer != nullptr) tell_choice(*front_, request, now);
  if (index) {
    send(*index, request, now);
    return;
  }
  wait_for_replica(request);
}

void FleetRun::wait_for_replica(const Request& request) {
  unplaced_.push_back(request);
  ++result_.fleet.waited_for_replica;
  result_.fleet.waiting_for_replica_peak =
      std::max(result_.fleet.waiting_for_replica_peak, static_cast<std::int64_t>(unplaced_.size()));
}

void FleetRun::send(std::uint32_t index, const Request& request, Instant now) {
  Member& member = members_[index];
  ++member.custody;
  ++member.dispatched;
  result_.outcomes[request.id].replica = index;
  if (!is_alone_) tell_dispatched(index, request, now);
  current_ = index;
  member.replica->enqueue(request);
  touched(index, now);
}

void FleetRun::tell_dispatched(std::uint32_t index, const Request& request, Instant now) {
  if (checker_) checker_->on_dispatch(request.id, index);
  front_->dispatched(index, request, now);
  if (gate_ != nullptr) gate_->dispatched(request.id, index, now);
  if (request.program == nullptr || members_.size() == 1) return;
  for (const std::uint32_t other : chains_.dispatched(request, index)) {
    members_[other].replica->end_chain(request, now);
  }
}

void FleetRun::arrive_again(Request& request, Instant now) const {
  request.spent += now - request.arrival;
  request.arrival = now;
}

void FleetRun::record(RequestId id, const Outcome& outcome) {
  if (reactive_ != nullptr) reactive_->expect_end(id);
  Outcome& kept = result_.outcomes[id];
  const Instant arrival = kept.arrival;
  kept = outcome;
  // A request that waited at the door or was tried again reached its replica later.
  kept.arrival = arrival;
  kept.replica = current_;
  if (checker_) checker_->on_outcome(id, kept);
  if (flushing_) return;
  Member& member = members_[current_];
  if (outcome.status == OutcomeStatus::kFinished) ++member.finished;
  if (outcome.status == OutcomeStatus::kRefused) ++member.refused;
  --member.custody;
  --in_system_;
  if (!is_alone_) {
    pool_of(current_).ended(current_, id, clock_.now());
    if (gate_ != nullptr) gate_->ended(id, kept, clock_.now());
  }
  if (reactive_ != nullptr) tell_source(id, answer_to(kept));
}

void FleetRun::tell_source(RequestId id, const Answer& answer) {
  if (flushing_) return;
  const Outcome& outcome = result_.outcomes[id];
  reactive_->ended(id, outcome, answer, clock_.now());
  was_told_ = true;
  told_at_ = clock_.now();
  if (outcome.finished() && members_.size() > 1) end_chain_elsewhere(id);
}

void FleetRun::end_chain_elsewhere(RequestId id) {
  for (const std::uint32_t other : chains_.ended(id, current_)) {
    members_[other].replica->end_chain(chains_.ended_request(), clock_.now());
  }
}

void FleetRun::end_without_replica(const Request& request, OutcomeStatus status, Reason reason,
                                   const Answer& answer) {
  Outcome& kept = result_.outcomes[request.id];
  const Instant arrival = kept.arrival;
  const std::uint32_t replica = kept.replica;
  kept = outcome_of(request, status, reason);
  kept.arrival = arrival;
  kept.replica = replica;
  --in_system_;
  if (checker_) checker_->on_outcome(request.id, kept);
  if (gate_ != nullptr && !flushing_) gate_->ended(request.id, kept, clock_.now());
  if (reactive_ != nullptr) tell_source(request.id, answer);
}

}  // namespace inferscale
