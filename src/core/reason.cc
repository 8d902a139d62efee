#include "core/reason.h"

#include "base/check.h"

namespace inferscale {
namespace {

struct ReasonRow {
  Reason reason;
  std::string_view name;
  ReasonSide side;
  std::string_view meaning;
};

using enum ReasonSide;

constexpr std::array<ReasonRow, kReasonCount> kReasons = {{
    {Reason::kNone, "none", kNobody, "nothing stood in its way"},
    {Reason::kExceedsKvCache, "exceeds_kv_cache", kRequest,
     "prompt plus requested output can never fit in the KV cache"},
    {Reason::kExceedsModelLen, "exceeds_max_model_len", kRequest,
     "prompt plus requested output is longer than max_model_len"},
    {Reason::kQueueFull, "queue_full", kPool, "the engine's own queue was full"},
    {Reason::kReplicaFailed, "replica_failed", kPool,
     "its replica failed, and it was not tried again"},
    {Reason::kQueueDepth, "queue_depth", kPool, "too many requests wait"},
    {Reason::kQueueAge, "queue_age", kPool, "the oldest waiting request has waited too long"},
    {Reason::kKvPressure, "kv_pressure", kPool, "too much of the KV cache is in use"},
    {Reason::kNoHeadroom, "no_headroom", kPool, "it does not fit the KV cache that is free"},
    {Reason::kTokenBudget, "token_budget", kPool, "too many tokens are in flight"},
    {Reason::kConcurrency, "concurrency", kPool, "too many requests are in flight"},
    {Reason::kSaturated, "saturated", kPool, "the replicas are saturated"},
    {Reason::kPoolFull, "pool_full", kPool, "every replica is full"},
    {Reason::kSessionWindow, "session_window", kPool, "too many agent sessions are active"},
    {Reason::kBatchForming, "batch_forming", kPool, "its batch is still being gathered"},
    {Reason::kShed, "shed", kPool, "drawn at random"},
    {Reason::kOverloaded, "overloaded", kPool, "work arrives faster than it can be served"},
    {Reason::kDeadlineInfeasible, "deadline_infeasible", kPool,
     "its first token can't come in time"},
    {Reason::kItlInfeasible, "itl_infeasible", kPool,
     "token gaps would be too long with one more in the batch"},
    {Reason::kWaitTooLong, "wait_too_long", kPool,
     "the predicted wait is longer than its group's target"},
    {Reason::kRateLimit, "rate_limit", kCaller, "too many requests of the caller in the window"},
    {Reason::kTenantShare, "tenant_share", kCaller, "the caller's share is used up"},
    {Reason::kSessionInFlight, "session_in_flight", kCaller,
     "too many calls of its session are in flight"},
    {Reason::kClosed, "closed", kPool, "everybody is refused"},
    {Reason::kRule, "rule", kPool, "a rule of the list that names no reason of its own"},
    {Reason::kNoSignal, "no_signal", kPool,
     "a signal that the policy needs was too old on every replica"},
    {Reason::kLease, "lease", kCaller, "the caller's limit of requests in flight"},
    {Reason::kHoldFull, "hold_full", kPool, "no room was left to hold it"},
    {Reason::kHoldExpired, "hold_expired", kPool, "it was held as long as it may be"},
    {Reason::kRetryTooLong, "retry_too_long", kPool,
     "the predicted wait is longer than max_retry_after"},
    {Reason::kQueueRises, "queue_rises", kPool, "the queue has been rising all along"},
    {Reason::kPolicyError, "policy_error", kNobody, "the policy failed"},
    {Reason::kClientGone, "client_gone", kNobody, "the caller left"},
    {Reason::kStreamBroken, "stream_broken", kNobody, "its stream broke half-way"},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    if (static_cast<std::size_t>(kReasons[i].reason) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const ReasonRow& row_of(Reason reason) {
  return kReasons[static_cast<std::size_t>(reason)];
}

std::int16_t default_rejection(ReasonSide side) {
  switch (side) {
    case kRequest:
      return 400;
    case kCaller:
      return 429;
    case kPool:
      return 529;
    case kNobody:
      return 503;
  }
  return 503;
}

}  // namespace

std::string_view reason_name(Reason reason) {
  return row_of(reason).name;
}

std::string_view reason_meaning(Reason reason) {
  return row_of(reason).meaning;
}

ReasonSide side_of(Reason reason) {
  return row_of(reason).side;
}

std::optional<Reason> reason_of(std::string_view name) {
  for (const ReasonRow& row : kReasons) {
    if (row.name == name) return row.reason;
  }
  return std::nullopt;
}

StatusMap::StatusMap() {
  deferred_.fill(503);
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    rejected_[i] = default_rejection(kReasons[i].side);
  }
  // An engine's own queue: what engines themselves answer.
  set_rejected(Reason::kQueueFull, 503);
  set_rejected(Reason::kReplicaFailed, 503);
}

void StatusMap::set_deferred(Reason reason, int status) {
  CHECK(status >= 400 && status <= 599) << "status " << status;
  deferred_[static_cast<std::size_t>(reason)] = static_cast<std::int16_t>(status);
}

void StatusMap::set_rejected(Reason reason, int status) {
  CHECK(status >= 400 && status <= 599) << "status " << status;
  rejected_[static_cast<std::size_t>(reason)] = static_cast<std::int16_t>(status);
}

}  // namespace inferscale
