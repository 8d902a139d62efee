#include "admission/gate_pool.h"

#include <algorithm>

#include "admission/retry_after.h"
#include "base/check.h"

namespace inferscale {
namespace {

PoolSignalOptions signal_options(const GateOptions& options) {
  return {.replicas = options.replicas,
          .max_age = options.max_age,
          .rate_window = options.rate_window,
          .corrections = options.corrections,
          .service = options.service};
}

}  // namespace

AdmissionGate::Pool::Pool(GateOptions options)
    : options_(std::move(options)),
      enforced_(options_.policy({.seed = options_.seed})),
      predictor_(make_predictor(options_.predictor)),
      signals_(signal_options(options_)),
      trend_(options_.trend) {
  if (options_.enforce < 1) shadow_ = options_.policy({.seed = options_.seed, .is_shadow = true});
  if (options_.fallback) fallback_ = options_.fallback({.seed = options_.seed});
  if (options_.hold) hold_.emplace(*options_.hold);
  if (options_.learns_service) fit_.emplace(ServiceFitOptions{.start = options_.service});
  for (const SignalSpec& spec : all_signals()) {
    reads_pages_ |=
        enforced_->needs().signals.has(spec.signal) && spec.origin != SignalOrigin::kLedger;
  }
  if (const auto interval = enforced_->tick_interval()) next_tick_ = Instant() + *interval;
}

Instant AdmissionGate::Pool::to_now(Instant now) {
  clock_ = std::max(clock_, now);
  return clock_;
}

void AdmissionGate::Pool::note_queue() {
  trend_.observe(signals_.ledger().waiting() + held(), clock_);
}

Presented AdmissionGate::Pool::present(AdmissionGate* gate, const RequestView& request,
                                       Instant now) {
  to_now(now);
  note_queue();
  signals_.arrived(clock_);
  ++counts_.presented;
  // Whoever is held comes first: nobody overtakes them because time has passed unnoticed.
  if (hold_ && hold_->take_due(clock_)) review_held(gate);
  RequestView view = request;
  view.predictor = options_.predictor.kind;
  view.predicted_output_tokens = predictor_->predict(view);
  Judgement judgement = judge(view);
  const DecisionCause cause = view.is_rerouted ? DecisionCause::kRerouted : DecisionCause::kArrival;
  Presented presented;
  if (judgement.effective.admitted()) {
    presented.kind = Presented::Kind::kAdmitted;
    presented.permit = admit(gate, view, judgement);
    record(view, judgement, cause, false, {});
  } else if (hold(view, judgement)) {
    presented.kind = Presented::Kind::kHeld;
    record(view, judgement, cause, true, {});
  } else {
    presented = answer_refusal(view, judgement);
    record(view, judgement, cause, false, presented.answer);
  }
  presented.decision = judgement.effective;
  if (judgement.decided.wakes_held) review_held(gate);
  return presented;
}

Permit AdmissionGate::Pool::admit(AdmissionGate* gate, const RequestView& request,
                                  const Judgement& judgement) {
  ++counts_.admitted;
  // A shadow that would have refused it knows nothing of it.
  const bool policy_knows = judgement.decided.admitted() && judgement.stale == StaleRule::kNone;
  const std::uint64_t ticket =
      signals_.ledger().admit(request, clock_, !judgement.is_governed, policy_knows);
  if (policy_knows) policy_for(judgement.is_governed).on_admit(request, clock_);
  return Permit(gate, ticket);
}

Presented AdmissionGate::Pool::answer_refusal(const RequestView& request, Judgement& judgement) {
  Presented presented{.kind = Presented::Kind::kAnswered};
  const Reason reason = judgement.effective.reason;
  if (judgement.effective.verdict == Verdict::kReject) {
    ++counts_.rejected;
    presented.answer.status = options_.status.rejected(reason);
    return presented;
  }
  ++counts_.deferred;
  const Duration wait = judgement.wait.value_or(options_.retry_after.least);
  const Duration told = spread_wait(wait, options_.retry_after, options_.seed, request);
  presented.answer = {.status = options_.status.deferred(reason), .retry_after = told};
  trend_.told_to_wait(clock_ + told);
  return presented;
}

void AdmissionGate::Pool::observe(AdmissionGate* gate, std::uint32_t replica,
                                  const EngineReading& reading, Instant now) {
  to_now(now);
  signals_.observe(replica, reading);
  // Pages that are read for the record alone change no decision, nor when one is taken.
  if (!reads_pages_) return;
  const GateView view(signals_, hold_figures(), enforced_->needs().signals, clock_, false);
  enforced_->on_reading(view);
  if (shadow_) shadow_->on_reading(view);
  review_held(gate);
}

void AdmissionGate::Pool::set_available(std::uint32_t replica, bool available, Instant now) {
  to_now(now);
  signals_.set_available(replica, available);
}

void AdmissionGate::Pool::dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now) {
  to_now(now);
  CHECK(signals_.ledger().find(ticket) != nullptr) << "a permit that has ended";
  signals_.dispatched(ticket, replica, clock_);
  if (fit_) fit_->on_dispatched(clock_);
}

void AdmissionGate::Pool::first_token(AdmissionGate* gate, std::uint64_t ticket, Instant now) {
  to_now(now);
  const LedgerEntry* entry = signals_.ledger().find(ticket);
  CHECK(entry != nullptr) << "a permit that has ended";
  if (fit_ && entry->is_waiting()) fit_->on_first_token(entry->request, clock_);
  signals_.first_token(ticket, clock_);
  review_held(gate);
}

void AdmissionGate::Pool::end(AdmissionGate* gate, std::uint64_t ticket, PermitEnd how,
                              TokenCount output_tokens, Instant now) {
  to_now(now);
  CHECK(signals_.ledger().find(ticket) != nullptr) << "a permit that has ended";
  const LedgerEntry entry = signals_.end(ticket, output_tokens, clock_);
  note_queue();
  learn(entry, {.end = how,
                .admitted_at = entry.admitted_at,
                .dispatched_at = entry.dispatched_at,
                .first_token = entry.first_token,
                .now = clock_,
                .output_tokens = output_tokens,
                .in_flight_at_admission = entry.in_flight_at_admission});
  review_held(gate);
}

void AdmissionGate::Pool::learn(const LedgerEntry& entry, const AttemptEnd& end) {
  if (end.end == PermitEnd::kFinished) predictor_->learn(entry.request, end.output_tokens);
  if (fit_ && entry.dispatched_at != Instant::never()) {
    fit_->on_outcome(entry.request, end);
    signals_.service() = fit_->model();
  }
  if (entry.policy_knows) policy_for(!entry.is_shadow).on_outcome(entry.request, end);
}

void AdmissionGate::Pool::advance(AdmissionGate* gate, Instant now) {
  to_now(now);
  if (next_tick_ <= clock_) {
    tick();
    review_held(gate);
  }
  if (hold_ && hold_->take_due(clock_)) review_held(gate);
  answer_expired();
}

void AdmissionGate::Pool::tick() {
  const GateView view(signals_, hold_figures(), enforced_->needs().signals, clock_, false);
  enforced_->on_tick(view);
  if (shadow_) shadow_->on_tick(view);
  const Duration interval = *enforced_->tick_interval();
  CHECK(interval.ns() > 0) << "a policy that ticks without an interval";
  // Ticks that were slept through are not made up for.
  const std::int64_t passed = (clock_ - next_tick_).ns() / interval.ns() + 1;
  next_tick_ = next_tick_ + interval * passed;
}

Instant AdmissionGate::Pool::next_wake() const {
  return hold_ ? std::min(next_tick_, hold_->next_wake()) : next_tick_;
}

}  // namespace inferscale
