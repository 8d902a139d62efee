// Why somebody was not served, or has to wait: one closed vocabulary for engines and the door.
//
// The names are used unchanged in configurations (the status map), answers, logs, metrics and
// reports. A reason belongs to whoever gave it: an engine, the gate itself, or an admission policy.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace inferscale {

enum class Reason : std::uint8_t {
  kNone,

  // Of engines.
  kExceedsKvCache,   // prompt plus requested output can never fit in the KV cache
  kExceedsModelLen,  // prompt plus requested output is longer than max_model_len
  kQueueFull,        // max_queued requests were waiting
  kReplicaFailed,    // its replica failed, and it was not tried again

  // Of policies: the pool's state.
  kQueueDepth,     // too many requests wait
  kQueueAge,       // the oldest one has waited too long
  kKvPressure,     // too much of the KV cache is in use
  kNoHeadroom,     // it does not fit the KV cache that is free
  kTokenBudget,    // too many tokens are in flight
  kConcurrency,    // too many requests are in flight
  kSaturated,      // replicas are saturated
  kPoolFull,       // every replica is full
  kSessionWindow,  // too many sessions are active
  kBatchForming,   // its batch is still being gathered
  kShed,           // drawn at random

  // Of policies: the deadlines.
  kOverloaded,          // work arrives faster than it can be served
  kDeadlineInfeasible,  // its first token can't be in time
  kItlInfeasible,       // tokens of all could not be in time with one more in the batch
  kWaitTooLong,         // the predicted wait is longer than the group's target

  // Of policies: the caller.
  kRateLimit,        // too many requests of the caller in the window
  kTenantShare,      // the caller's share is used up
  kSessionInFlight,  // too many calls of the session are in flight
  kClosed,           // everybody is refused
  kRule,             // a rule that names no reason of its own

  // Of the gate itself.
  kNoSignal,      // a signal that the policy needs is too old everywhere, and the rule is closed
  kLease,         // a limit of the caller that the gate keeps (tenants.<name>.limits)
  kHoldFull,      // no room to hold it
  kHoldExpired,   // it was held as long as it may be
  kRetryTooLong,  // deferred, but the predicted wait is longer than max_retry_after
  kQueueRises,    // deferred, but the queue has been rising all along: no burst
  kPolicyError,   // the policy failed, and on_error is reject
  kClientGone,    // the caller left before the end
  kStreamBroken,  // its stream broke half-way
};

inline constexpr std::size_t kReasonCount = static_cast<std::size_t>(Reason::kStreamBroken) + 1;

// Whose doing it is: what the default status of an answer follows from.
enum class ReasonSide : std::uint8_t { kRequest, kCaller, kPool, kNobody };

std::string_view reason_name(Reason reason);
// What it means, in a sentence for people.
std::string_view reason_meaning(Reason reason);
ReasonSide side_of(Reason reason);
// Nothing when there is no such reason.
std::optional<Reason> reason_of(std::string_view name);

// HTTP statuses of answers: 503 for whoever is deferred, else 429 where the caller is over its
// share, 529 where the pool is full or a deadline can't be met, 400 where the request can never be
// served. Each can be configured.
class StatusMap {
 public:
  StatusMap();
  int deferred(Reason reason) const { return deferred_[static_cast<std::size_t>(reason)]; }
  int rejected(Reason reason) const { return rejected_[static_cast<std::size_t>(reason)]; }
  void set_deferred(Reason reason, int status);
  void set_rejected(Reason reason, int status);

 private:
  std::array<std::int16_t, kReasonCount> deferred_;
  std::array<std::int16_t, kReasonCount> rejected_;
};

}  // namespace inferscale
