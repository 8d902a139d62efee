// An admission policy: who gets in.
//
// decide() does no I/O, reads no clock but the view's, draws randomness only as a hash of (seed,
// policy, request, attempt), and takes bounded time and memory. A policy may keep state: the same
// seed and the same inputs in the same order give the same decisions. The gate calls it from one
// thread at a time.
//
// One object decides about what it governs. A gate that enforces a policy on a part of the traffic
// holds two of them: one whose decisions are enforced, and a shadow for the rest, whose decisions
// are only recorded. Each is told of its own admissions and of how they ended, so that a shadow
// never changes what is enforced.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/decision.h"
#include "core/pool_view.h"
#include "core/request_view.h"
#include "core/signal_threshold.h"

namespace inferscale {

// What a policy must know of a request.
struct RequestNeeds {
  bool tenant = false;
  bool session = false;
  bool deadline = false;          // a deadline for the first token
  bool itl_target = false;        // a limit for token gaps
  bool predicted_output = false;  // some predictor
  bool true_output = false;       // the truth: oracle policies, in simulation only
};

struct PolicyNeeds {
  SignalSet signals;  // reading another one is a programming error, and stops
  RequestNeeds request;
  bool service_model = false;
  bool outcomes = false;  // on_outcome() must be wired
};

// How an admitted attempt ended.
enum class PermitEnd : std::uint8_t {
  kFinished,  // with an outcome
  kIgnored,   // its outcome says nothing about the pool (the caller left, a bad request)
  kDropped,   // nobody said: the permit was destroyed; or it failed
};

struct AttemptEnd {
  PermitEnd end = PermitEnd::kDropped;
  Instant admitted_at;
  Instant dispatched_at = Instant::never();
  Instant first_token = Instant::never();
  Instant now;
  TokenCount output_tokens = 0;
  std::int64_t in_flight_at_admission = 0;  // of the pool, this one included
  Duration e2e() const { return now - admitted_at; }
};

class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;
  virtual const PolicyNeeds& needs() const = 0;
  // REQUIRES: calls never go back in time, over all of the methods. A held attempt is decided
  // about again: `request.held` is above zero then.
  virtual Decision decide(const RequestView& request, const PoolView& pool) = 0;

  // What this object admitted (its decision took effect, or would have: shadow).
  virtual void on_admit(const RequestView& /*request*/, Instant /*now*/) {}
  // Of what it admitted: once each.
  virtual void on_outcome(const RequestView& /*request*/, const AttemptEnd& /*end*/) {}
  // What it deferred is held at the door now; is not any more, without having been admitted.
  virtual void on_held(const RequestView& /*request*/, Instant /*now*/) {}
  virtual void on_left_hold(const RequestView& /*request*/, Instant /*now*/) {}
  // Readings of engines have come in. Held attempts are decided anew afterwards.
  virtual void on_reading(const PoolView& /*pool*/) {}
  // At even intervals, when it asks for them: see tick_interval().
  virtual void on_tick(const PoolView& /*pool*/) {}
  virtual std::optional<Duration> tick_interval() const { return std::nullopt; }
  // Order of those held: lower is released first. Nothing: the gate's own order.
  virtual std::optional<double> rank(const RequestView& /*request*/) const { return std::nullopt; }
  // Of a policy that compares one signal of the whole pool with one number. Nothing: of another
  // one.
  virtual std::optional<SignalThreshold> threshold() const { return std::nullopt; }
  // A controller's current limit (requests, sessions), for reports. Nothing: it has none.
  virtual std::optional<double> limit() const { return std::nullopt; }
  // Why a decision of its own failed first, for reports. Empty: none has, or it does not say.
  virtual std::string failure() const { return {}; }
};

// What a policy is made with.
struct PolicySetting {
  std::uint64_t seed = 0;
  bool is_shadow = false;
};

// Makes fresh objects of one policy with its parameters. Called more than once; pure.
using PolicyFactory = std::function<std::unique_ptr<AdmissionPolicy>(const PolicySetting&)>;

// A uniform number in (0, 1) that hangs on nothing but these: the same on every machine.
double policy_draw(std::uint64_t seed, std::string_view policy, const RequestView& request);

}  // namespace inferscale
