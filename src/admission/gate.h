// The door: one decision path for the simulator, the bench, the gate and the replay of logs.
//
// An attempt is presented; it is admitted (with a Permit), held, or answered. Deciding, taking the
// leases and updating the ledger are one step, numbered in the record: two attempts never see the
// same room. What comes in beside attempts: readings of engines, what becomes of permits, and time.
// What comes out: decisions, releases of those held, and when the gate wants to be called next.
//
//   presented --admit--> permit --dispatched, first token--> finished | ignored | dropped
//       |  '--defer--> held --(reading, end, tick)--> decided anew: permit | answered
//       '--defer, reject--> answered
//
// Order of judgement: the stale rule (a signal that the policy needs is too old everywhere) or else
// the policy; enforcement (a shadow decision admits); the caller's leases; burst against trend; the
// hold's bounds.
//
// Thread-safe: one lock for each gate. Instants never go back: of calls that race, a later-numbered
// step takes the later instant of the two. Cost: the policy's, plus constant time, plus the number
// of replicas for each signal that is read; memory grows with attempts in flight and held, and is
// bounded in callers.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "admission/engine_reading.h"
#include "admission/gate_options.h"
#include "admission/permit.h"
#include "base/result.h"
#include "core/answer.h"

namespace inferscale {

// What became of a presented attempt, at once or after it was held.
struct Presented {
  enum class Kind : std::uint8_t { kAdmitted, kHeld, kAnswered };
  Kind kind = Kind::kAnswered;
  Decision decision;  // in force
  Permit permit;      // kAdmitted
  Answer answer;      // kAnswered
};

// Of a held attempt: it leaves the hold, admitted or answered.
struct Release {
  std::uint64_t request = 0;  // as in its view
  std::uint32_t attempt = 0;
  Presented presented;
};

// Counts since the start, for metrics.
struct GateCounts {
  std::int64_t presented = 0;
  std::int64_t admitted = 0;
  std::int64_t deferred = 0;  // answered
  std::int64_t rejected = 0;
  std::int64_t held = 0;             // ever
  std::int64_t shadow_refusals = 0;  // decisions to defer or reject that were not enforced
  std::int64_t stale_decisions = 0;  // taken by the stale rule
  std::int64_t policy_failures = 0;
  std::string policy_failure;  // why the first of them failed, where the policy says so
  Duration held_time;          // of those that left the hold
};

class AdmissionGate {
 public:
  // An error when the supply is not enough for the policy or its fallback (signal_supply.h).
  static Result<std::unique_ptr<AdmissionGate>> create(GateOptions options);
  ~AdmissionGate();
  AdmissionGate(const AdmissionGate&) = delete;
  AdmissionGate& operator=(const AdmissionGate&) = delete;

  Presented present(const RequestView& request, Instant now);
  // The caller of a held attempt left. False: it is not held (any more).
  bool withdraw(std::uint64_t request, std::uint32_t attempt, Instant now);
  // A look at a replica's page. One that is not newer than the replica's last is dropped.
  void observe(std::uint32_t replica, const EngineReading& reading, Instant now);
  // The replica is not there (any more); what is known of it is forgotten.
  void set_available(std::uint32_t replica, bool available, Instant now);
  // Time has passed: expires what is held too long, ticks the policy. To be called at next_wake().
  void advance(Instant now);
  // When something is due without another input; never() when nothing is.
  Instant next_wake() const;
  // Those that left the hold since the last call, in order.
  std::vector<Release> take_releases();
  bool has_releases() const;

  GateCounts counts() const;
  std::int64_t in_flight() const;
  std::int64_t held() const;
  std::optional<double> limit() const;  // of the enforced policy's controller

 private:
  friend class Permit;
  class Pool;  // the state behind the lock
  explicit AdmissionGate(std::unique_ptr<Pool> pool);
  // Of permits. An end without an instant is at the last one that the gate has seen.
  void dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now);
  void first_token(std::uint64_t ticket, Instant now);
  void end(std::uint64_t ticket, PermitEnd how, TokenCount output_tokens,
           std::optional<Instant> now);

  std::unique_ptr<Pool> pool_;
};

}  // namespace inferscale
