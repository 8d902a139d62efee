// Those who are held: who is taken in, decided about again, let go.

#include "admission/gate_pool.h"

namespace inferscale {

bool AdmissionGate::Pool::hold(const RequestView& request, Judgement& judgement) {
  Decision& effective = judgement.effective;
  if (!hold_ || effective.verdict != Verdict::kDefer || !effective.may_hold) return false;
  if (!hold_->has_room(request)) {
    effective.reason = Reason::kHoldFull;
    return false;
  }
  AdmissionPolicy& policy = policy_for(judgement.is_governed);
  // When the policy knows a time, it is asked again then; else when something changes.
  const Instant due =
      judgement.decided.retry_after ? clock_ + *judgement.decided.retry_after : Instant::never();
  hold_->add(request, policy.rank(request), due, clock_);
  ++counts_.held;
  if (judgement.stale == StaleRule::kNone) policy.on_held(request, clock_);
  note_queue();
  return true;
}

void AdmissionGate::Pool::leave_hold(const HoldQueue::Key& key, bool is_admitted) {
  const HoldQueue::Held held = hold_->take(key);
  counts_.held_time += clock_ - held.since;
  if (!is_admitted) enforced_->on_left_hold(held.request, clock_);
  note_queue();
}

// Decides anew about the held, in order, until so many have to stay. One whose batch is still being
// gathered is not counted: the batch behind it may be whole.
void AdmissionGate::Pool::review_held(AdmissionGate* gate) {
  if (!hold_ || reviewing_ || hold_->size() == 0) return;
  reviewing_ = true;
  std::int64_t stayed = 0;
  HoldQueue::Key key;
  const HoldQueue::Held* held = hold_->first(key);
  while (held != nullptr && stayed < options_.hold->look_past) {
    HoldQueue::Key next = key;
    const HoldQueue::Held copy = *held;
    stayed += review(gate, key, copy);
    held = hold_->after(next);
    key = next;
  }
  reviewing_ = false;
}

int AdmissionGate::Pool::review(AdmissionGate* gate, const HoldQueue::Key& key,
                                const HoldQueue::Held& held) {
  RequestView view = held.request;
  view.held = clock_ - held.since;
  Judgement judgement = judge(view);
  Release release{.request = view.request, .attempt = view.attempt};
  if (judgement.effective.admitted()) {
    leave_hold(key, true);
    release.presented.kind = Presented::Kind::kAdmitted;
    release.presented.permit = admit(gate, view, judgement);
    record(view, judgement, DecisionCause::kHeld, false, {});
  } else if (judgement.effective.verdict == Verdict::kDefer && judgement.effective.may_hold) {
    if (judgement.decided.retry_after) hold_->set_due(key, clock_ + *judgement.decided.retry_after);
    record(view, judgement, DecisionCause::kHeld, true, {});
    return judgement.effective.reason == Reason::kBatchForming ? 0 : 1;
  } else {
    leave_hold(key, false);
    release.presented = answer_refusal(view, judgement);
    record(view, judgement, DecisionCause::kHeld, false, release.presented.answer);
  }
  release.presented.decision = judgement.effective;
  releases_.push_back(std::move(release));
  return 0;
}

void AdmissionGate::Pool::answer_expired() {
  if (!hold_) return;
  while (const std::optional<HoldQueue::Key> key = hold_->expired(clock_)) {
    HoldQueue::Key place = *key;
    const HoldQueue::Held held = hold_->take(place);
    counts_.held_time += clock_ - held.since;
    RequestView view = held.request;
    view.held = clock_ - held.since;
    Judgement judgement{.decided = Decision::defer(Reason::kHoldExpired),
                        .effective = Decision::defer(Reason::kHoldExpired),
                        .wait = reckoned_wait()};
    note_readings(view, judgement);
    enforced_->on_left_hold(held.request, clock_);
    Release release{.request = view.request, .attempt = view.attempt};
    release.presented = answer_refusal(view, judgement);
    release.presented.decision = judgement.effective;
    record(view, judgement, DecisionCause::kHeld, false, release.presented.answer);
    releases_.push_back(std::move(release));
    note_queue();
  }
}

bool AdmissionGate::Pool::withdraw(std::uint64_t request, std::uint32_t attempt, Instant now) {
  to_now(now);
  if (!hold_) return false;
  const std::optional<HoldQueue::Key> key = hold_->find(request, attempt);
  if (!key) return false;
  const HoldQueue::Held held = hold_->at(*key);
  RequestView view = held.request;
  view.held = clock_ - held.since;
  Judgement judgement{.decided = Decision::reject(Reason::kClientGone),
                      .effective = Decision::reject(Reason::kClientGone)};
  note_readings(view, judgement);
  leave_hold(*key, false);
  record(view, judgement, DecisionCause::kHeld, false, {.status = 0});
  return true;
}

}  // namespace inferscale
