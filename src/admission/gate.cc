#include "admission/gate.h"

#include "admission/gate_lock.h"
#include "admission/gate_pool.h"
#include "base/check.h"

namespace inferscale {

AdmissionGate::AdmissionGate(std::unique_ptr<Pool> pool) : pool_(std::move(pool)) {}

AdmissionGate::~AdmissionGate() {
  // Releases that nobody took hold permits, which must end while there is a pool; each end may
  // release others.
  while (has_releases()) take_releases();
}

Result<std::unique_ptr<AdmissionGate>> AdmissionGate::create(GateOptions options) {
  CHECK(options.policy != nullptr) << "a gate without a policy";
  const std::unique_ptr<AdmissionPolicy> policy = options.policy({.seed = options.seed});
  if (const Result<void> enough =
          check_supply(options.policy_name, policy->needs(), options.supply);
      !enough) {
    return std::unexpected(enough.error());
  }
  if (options.on_stale == StaleRule::kLedgerFallback) {
    CHECK(options.fallback != nullptr) << "a stale rule without its fallback policy";
    const PolicyNeeds needs = options.fallback({.seed = options.seed})->needs();
    for (const SignalSpec& spec : all_signals()) {
      if (!needs.signals.has(spec.signal) || spec.origin == SignalOrigin::kLedger) continue;
      return fail(ErrorCode::kInvalidConfig,
                  "fallback policy " + options.fallback_name + " needs the signal " +
                      std::string(spec.name) +
                      ", which gets too old itself: expected a policy of the ledger's signals");
    }
    if (const Result<void> enough = check_supply(options.fallback_name, needs, options.supply);
        !enough) {
      return std::unexpected(enough.error());
    }
  }
  return std::unique_ptr<AdmissionGate>(
      new AdmissionGate(std::make_unique<Pool>(std::move(options))));
}

Presented AdmissionGate::present(const RequestView& request, Instant now) {
  const GateGuard guard(pool_->lock);
  return pool_->present(this, request, now);
}

bool AdmissionGate::withdraw(std::uint64_t request, std::uint32_t attempt, Instant now) {
  const GateGuard guard(pool_->lock);
  return pool_->withdraw(request, attempt, now);
}

void AdmissionGate::observe(std::uint32_t replica, const EngineReading& reading, Instant now) {
  const GateGuard guard(pool_->lock);
  pool_->observe(this, replica, reading, now);
}

void AdmissionGate::set_available(std::uint32_t replica, bool available, Instant now) {
  const GateGuard guard(pool_->lock);
  pool_->set_available(replica, available, now);
}

void AdmissionGate::advance(Instant now) {
  const GateGuard guard(pool_->lock);
  pool_->advance(this, now);
}

Instant AdmissionGate::next_wake() const {
  const GateGuard guard(pool_->lock);
  return pool_->next_wake();
}

std::vector<Release> AdmissionGate::take_releases() {
  const GateGuard guard(pool_->lock);
  return pool_->take_releases();
}

bool AdmissionGate::has_releases() const {
  const GateGuard guard(pool_->lock);
  return pool_->has_releases();
}

GateCounts AdmissionGate::counts() const {
  const GateGuard guard(pool_->lock);
  return pool_->counts();
}

std::int64_t AdmissionGate::in_flight() const {
  const GateGuard guard(pool_->lock);
  return pool_->in_flight();
}

std::int64_t AdmissionGate::held() const {
  const GateGuard guard(pool_->lock);
  return pool_->held();
}

std::optional<double> AdmissionGate::limit() const {
  const GateGuard guard(pool_->lock);
  return pool_->limit();
}

void AdmissionGate::dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now) {
  const GateGuard guard(pool_->lock);
  pool_->dispatched(ticket, replica, now);
}

void AdmissionGate::first_token(std::uint64_t ticket, Instant now) {
  const GateGuard guard(pool_->lock);
  pool_->first_token(this, ticket, now);
}

void AdmissionGate::end(std::uint64_t ticket, PermitEnd how, TokenCount output_tokens,
                        std::optional<Instant> now) {
  const GateGuard guard(pool_->lock);
  pool_->end(this, ticket, how, output_tokens, now.value_or(pool_->clock()));
}

}  // namespace inferscale
