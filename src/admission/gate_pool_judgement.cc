// How an attempt is decided about: stale rule or policy, enforcement, leases, burst against trend.

#include "admission/enforcement.h"
#include "admission/gate_pool.h"
#include "admission/retry_after.h"

namespace inferscale {

AdmissionGate::Pool::Judgement AdmissionGate::Pool::judge(const RequestView& request) {
  Judgement judgement;
  note_readings(request, judgement);
  judgement.is_governed =
      is_governed(request, options_.enforce, options_.enforce_by, options_.enforce_key);
  judgement.decided = decide_or_stale(request, judgement);
  judgement.effective = judgement.decided;
  if (!judgement.is_governed) {
    if (!judgement.decided.admitted()) ++counts_.shadow_refusals;
    judgement.effective = Decision::admit();
  }
  if (judgement.effective.admitted()) {
    if (const auto refusal = lease_refusal(request)) judgement.effective = *refusal;
  } else if (judgement.effective.verdict == Verdict::kDefer) {
    weigh_defer(judgement);
  }
  return judgement;
}

void AdmissionGate::Pool::note_readings(const RequestView& request, Judgement& judgement) const {
  if (options_.sink == nullptr) return;
  for (const SignalSpec& spec : all_signals()) {
    // Of pages that are all too old the old reading, so that the record shows what there was.
    const bool any_age = !signals_.is_fresh(spec.signal, clock_);
    judgement.readings[static_cast<std::size_t>(spec.signal)] =
        signals_.read(spec.signal, request, hold_figures(), clock_, any_age);
  }
}

bool AdmissionGate::Pool::is_fresh_for(SignalSet signals) const {
  for (const SignalSpec& spec : all_signals()) {
    if (signals.has(spec.signal) && !signals_.is_fresh(spec.signal, clock_)) return false;
  }
  return true;
}

Decision AdmissionGate::Pool::decide_or_stale(const RequestView& request, Judgement& judgement) {
  AdmissionPolicy& policy = policy_for(judgement.is_governed);
  if (is_fresh_for(policy.needs().signals)) {
    return ask(request, policy, false, judgement.policy_failed);
  }
  ++counts_.stale_decisions;
  judgement.stale = options_.on_stale;
  switch (options_.on_stale) {
    case StaleRule::kClosed:
      return Decision::reject(Reason::kNoSignal);
    case StaleRule::kLastGood:
      return ask(request, policy, true, judgement.policy_failed);
    case StaleRule::kLedgerFallback:
      return ask(request, *fallback_, false, judgement.policy_failed);
    case StaleRule::kOpen:
    case StaleRule::kNone:
      break;
  }
  return Decision::admit();
}

Decision AdmissionGate::Pool::ask(const RequestView& request, AdmissionPolicy& policy, bool any_age,
                                  bool& policy_failed) {
  GateView view(signals_, hold_figures(), policy.needs().signals, clock_, any_age);
  view.look_at(request);
  const Decision decision = policy.decide(request, view);
  if (!decision.failed) return decision;
  policy_failed = true;
  ++counts_.policy_failures;
  if (counts_.policy_failure.empty()) counts_.policy_failure = policy.failure();
  return options_.on_error == Verdict::kReject ? Decision::reject(Reason::kPolicyError)
                                               : Decision::admit();
}

std::optional<Decision> AdmissionGate::Pool::lease_refusal(const RequestView& request) const {
  if (options_.tenants.empty() || request.tenant == kNoCaller) return std::nullopt;
  const auto limits = options_.tenants.find(request.tenant);
  if (limits == options_.tenants.end() || !limits->second.in_flight) return std::nullopt;
  if (signals_.ledger().tenant(request.tenant).in_flight < *limits->second.in_flight) {
    return std::nullopt;
  }
  return Decision::reject(Reason::kLease);
}

std::optional<Duration> AdmissionGate::Pool::reckoned_wait() const {
  const Ledger& ledger = signals_.ledger();
  return predicted_wait(ledger, ledger.waiting() + held() + trend_.outside(), signals_.service());
}

// Defer is for bursts: a queue that rises all along, or a wait that is too long to ask for, is a
// reject. A batch that is still being gathered says nothing about load.
void AdmissionGate::Pool::weigh_defer(Judgement& judgement) const {
  Decision& effective = judgement.effective;
  judgement.wait = effective.retry_after ? effective.retry_after : reckoned_wait();
  if (effective.reason == Reason::kBatchForming) return;
  if (trend_.is_rising()) {
    effective = Decision::reject(Reason::kQueueRises);
  } else if (judgement.wait && *judgement.wait > options_.retry_after.most) {
    effective = Decision::reject(Reason::kRetryTooLong);
  }
}

void AdmissionGate::Pool::record(const RequestView& request, const Judgement& judgement,
                                 DecisionCause cause, bool is_held, const Answer& answer) {
  const std::uint64_t sequence = sequence_++;
  if (options_.sink == nullptr) return;
  const bool was_answered = !judgement.effective.admitted() && !is_held;
  DecisionRecord record{.gate = options_.index,
                        .sequence = sequence,
                        .at = clock_,
                        .request = request,
                        .cause = cause,
                        .decided = judgement.decided,
                        .effective = judgement.effective,
                        .enforced = judgement.is_governed,
                        .held = is_held,
                        .stale = judgement.stale,
                        .policy_failed = judgement.policy_failed,
                        .status = was_answered ? answer.status : 0,
                        .retry_after = answer.retry_after,
                        .readings = judgement.readings,
                        .needed = enforced_->needs().signals,
                        .limit = policy_for(judgement.is_governed).limit()};
  options_.sink->on_decision(record);
}

}  // namespace inferscale
