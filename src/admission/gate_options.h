// How a gate is set up. The configuration's `admission` and `signals` parts become this.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "admission/output_predictor.h"
#include "admission/policy.h"
#include "admission/signal_supply.h"
#include "core/decision_record.h"
#include "core/reason.h"

namespace inferscale {

struct HoldOptions {
  std::int64_t most = 1000;                           // attempts
  std::uint64_t most_bytes = 256 << 20;               // of their bodies
  Duration longest = Duration::nanos(5'000'000'000);  // that an attempt may be held
  // Of those that are looked at when something changes, how many may be deferred again before the
  // rest is left for the next change.
  std::int64_t look_past = 16;
};

// Defers that are not worth it: a burst passes, a trend does not.
struct TrendOptions {
  // The queue (in the engines and at the door) was longer in each of so many even parts of the
  // window than in the one before: it rises. Zero: not looked at.
  Duration window = Duration::nanos(10'000'000'000);
  int rises = 5;
};

struct RetryAfterLimits {
  Duration least = Duration::nanos(1'000'000'000);
  Duration most = Duration::nanos(60'000'000'000);  // a longer predicted wait is a reject
  double jitter = 0.25;  // each answer's wait is drawn in (1 - jitter, 1 + jitter) of the reckoned
};

// What a tenant may have at once, kept by the gate whatever the policy decides.
struct TenantLimits {
  std::optional<std::int64_t> in_flight;
};

enum class EnforceBy : std::uint8_t { kTenant, kSession, kRequest };

struct GateOptions {
  std::string policy_name = "none";
  PolicyFactory policy;
  PolicyFactory fallback;  // of the ledger's signals alone; for StaleRule::kLedgerFallback
  std::string fallback_name;
  std::uint32_t index = 0;  // of this gate, where a run has several: for records
  std::uint64_t seed = 0;
  std::uint64_t enforce_key = 0;  // of the hash that draws who is governed; secret at a real door
  double enforce = 1;             // part of the traffic that is governed; the rest is shadow
  EnforceBy enforce_by = EnforceBy::kTenant;          // a caller without it: by the next finer one
  Duration max_age = Duration::nanos(5'000'000'000);  // a reading that is older is unknown
  Duration rate_window = Duration::nanos(2'000'000'000);  // of signals that are rates
  StaleRule on_stale = StaleRule::kLedgerFallback;
  Verdict on_error = Verdict::kAdmit;  // when the policy fails: kAdmit or kReject
  std::optional<HoldOptions> hold;     // not set: nobody is held
  TrendOptions trend;
  RetryAfterLimits retry_after;
  StatusMap status;
  std::map<CallerKey, TenantLimits> tenants;
  PredictorOptions predictor;
  ServiceModel service;
  bool learns_service = false;  // `service` is where a fit begins (service_fit.h)
  std::uint32_t replicas = 1;
  SignalSupply supply;
  bool corrections = true;       // readings are corrected by the ledger
  DecisionSink* sink = nullptr;  // told of every decision, where there is one
};

}  // namespace inferscale
