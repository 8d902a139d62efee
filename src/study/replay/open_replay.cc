#include "study/replay/open_replay.h"

#include <algorithm>

namespace inferscale {
namespace {

// What the policy needs that no log holds; empty when there is nothing.
std::string lacking(const AdmissionPolicy& policy, const GateOptions& gate) {
  if (policy.needs().outcomes) return "how admitted attempts ended";
  if (policy.tick_interval()) return "to be called at even intervals";
  if (policy.needs().service_model && gate.learns_service) {
    return "the service estimate, which this run learned on its way (predictor.service: fitted)";
  }
  return {};
}

Error unreplayable(const std::string& name, const std::string& needs) {
  return {ErrorCode::kInvalidConfig,
          "policy " + name + " needs " + needs +
              ", which a decision log does not hold: expected --closed-loop",
          ""};
}

bool reads_pages(SignalSet signals) {
  const auto all = all_signals();
  return std::any_of(all.begin(), all.end(), [&](const SignalSpec& spec) {
    return signals.has(spec.signal) && spec.origin != SignalOrigin::kLedger;
  });
}

bool are_same(SignalSet one, SignalSet other) {
  const auto all = all_signals();
  return std::all_of(all.begin(), all.end(), [&](const SignalSpec& spec) {
    return one.has(spec.signal) == other.has(spec.signal);
  });
}

void sample(DutyCycle& duty, const Decision& decision) {
  ++duty.samples;
  if (!decision.admitted()) ++duty.refusing;
}

}  // namespace

OpenReplay::OpenReplay(GateOptions gate, std::uint32_t replicas)
    : gate_(std::move(gate)),
      pool_({.service = gate_.service,
             .service_is_learned = gate_.learns_service,
             .replicas = replicas,
             .max_age = gate_.max_age}) {}

Result<OpenReplay> OpenReplay::create(GateOptions gate, std::uint32_t replicas) {
  gate.service.replicas = replicas;
  const std::string needs = lacking(*gate.policy({.seed = gate.seed}), gate);
  if (!needs.empty()) return std::unexpected(unreplayable(gate.policy_name, needs));
  return OpenReplay(std::move(gate), replicas);
}

void OpenReplay::on_decision(const DecisionRecord& record) {
  if (error_) return;
  const Reason reason = record.decided.reason;
  const bool was_asked = reason != Reason::kHoldExpired && reason != Reason::kClientGone;
  AdmissionPolicy& policy = policy_for(record);
  if (!was_asked) {
    ++figures_.of_the_gate;
    policy.on_left_hold(record.request, record.at);
    return;
  }
  if (reads_pages(policy.needs().signals) && was_partly_old(record, gate_.max_age)) {
    ++figures_.partly_old;
    tell(record, record.decided, policy);
    return;
  }
  const Answer answer = decide(record, policy);
  compare(record, answer);
  if (!answer.is_stale) tell(record, answer.decision, policy);
}

// What the gate tells a policy of its own decision.
void OpenReplay::tell(const DecisionRecord& record, const Decision& decision,
                      AdmissionPolicy& policy) const {
  if (decision.admitted()) {
    if (!is_over_lease(record)) policy.on_admit(record.request, record.at);
  } else if (record.held && record.cause != DecisionCause::kHeld &&
             decision.verdict == Verdict::kDefer) {
    policy.on_held(record.request, record.at);
  } else if (!record.held && record.cause == DecisionCause::kHeld) {
    policy.on_left_hold(record.request, record.at);
  }
}

AdmissionPolicy& OpenReplay::policy_for(const DecisionRecord& record) {
  Deciders& deciders = deciders_[record.gate];
  std::unique_ptr<AdmissionPolicy>& policy = record.enforced ? deciders.enforced : deciders.shadow;
  if (!policy) policy = gate_.policy({.seed = gate_.seed, .is_shadow = !record.enforced});
  return *policy;
}

// A policy that reads what the recorded one read had the signals that it had.
bool OpenReplay::is_stale(const DecisionRecord& record, const AdmissionPolicy& policy) const {
  const SignalSet needed = policy.needs().signals;
  if (are_same(needed, record.needed)) return record.stale != StaleRule::kNone;
  const auto all = all_signals();
  return std::any_of(all.begin(), all.end(), [&](const SignalSpec& spec) {
    return needed.has(spec.signal) && !was_fresh(record, spec.signal, gate_.max_age);
  });
}

OpenReplay::Answer OpenReplay::decide(const DecisionRecord& record, AdmissionPolicy& policy) {
  if (!is_stale(record, policy)) return {ask(record, policy, false), false};
  switch (gate_.on_stale) {
    case StaleRule::kClosed:
      return {Decision::reject(Reason::kNoSignal), true};
    case StaleRule::kLastGood:
      return {ask(record, policy, true), true};
    case StaleRule::kLedgerFallback:
      return {ask(record, fallback_of(record), false), true};
    case StaleRule::kOpen:
    case StaleRule::kNone:
      break;
  }
  return {Decision::admit(), true};
}

AdmissionPolicy& OpenReplay::fallback_of(const DecisionRecord& record) {
  std::unique_ptr<AdmissionPolicy>& fallback = deciders_[record.gate].fallback;
  if (!fallback) {
    fallback = gate_.fallback({.seed = gate_.seed});
    const std::string needs = lacking(*fallback, gate_);
    if (!needs.empty()) error_ = unreplayable("(admission.fallback) " + gate_.fallback_name, needs);
  }
  return *fallback;
}

Decision OpenReplay::ask(const DecisionRecord& record, AdmissionPolicy& policy, bool any_age) {
  pool_.show(record, policy.needs().signals, any_age);
  const Decision decision = policy.decide(record.request, pool_);
  if (pool_.lacked_replica()) {
    error_ = unreplayable(gate_.policy_name, "readings of single replicas");
  } else if (pool_.lacked_service()) {
    error_ =
        unreplayable(gate_.policy_name, "the service estimate, which this run learned on its way");
  }
  if (!decision.failed) return decision;
  return gate_.on_error == Verdict::kReject ? Decision::reject(Reason::kPolicyError)
                                            : Decision::admit();
}

// An attempt that the tenant's limit kept out: the policy was not told that it admitted it.
bool OpenReplay::is_over_lease(const DecisionRecord& record) const {
  const auto limits = gate_.tenants.find(record.request.tenant);
  if (limits == gate_.tenants.end() || !limits->second.in_flight) return false;
  const Reading& has = record.readings[static_cast<std::size_t>(Signal::kTenantInFlight)];
  return has.is_known() && has.value >= static_cast<double>(*limits->second.in_flight);
}

void OpenReplay::compare(const DecisionRecord& record, const Answer& answer) {
  const Decision& is = answer.decision;
  const Decision& was = record.decided;
  const bool was_stale = record.stale != StaleRule::kNone;
  figures_.needed = policy_for(record).needs().signals;
  ++figures_.decisions;
  figures_.held_again += record.cause == DecisionCause::kHeld ? 1 : 0;
  figures_.shadow += record.enforced ? 0 : 1;
  figures_.recorded_stale += was_stale ? 1 : 0;
  figures_.replayed_stale += answer.is_stale ? 1 : 0;
  ++figures_.table[{kind_of(was), kind_of(is)}];
  const bool differs = kind_of(was) != kind_of(is);
  const bool differs_else =
      !differs && (was.retry_after != is.retry_after || was.may_hold != is.may_hold ||
                   was.wakes_held != is.wakes_held);
  figures_.differ += differs ? 1 : 0;
  figures_.differ_else += differs_else ? 1 : 0;
  if ((differs || differs_else) && figures_.first.size() < OpenReplayFigures::kMostShown) {
    figures_.first.push_back({.recorded = record, .replayed = is});
  }
  if (record.cause == DecisionCause::kHeld) return;
  if (!was_stale) sample(figures_.recorded_duty, was);
  if (!answer.is_stale) sample(figures_.replayed_duty, is);
}

Result<OpenReplayFigures> OpenReplay::finish() const {
  if (error_) return std::unexpected(*error_);
  return figures_;
}

}  // namespace inferscale
