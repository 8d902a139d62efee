// The gate's own books: which attempts are in flight, whose they are, and who waits for a first
// token.
//
//   admitted --dispatched to a replica--> waiting --first token--> running --> ended
//
// An attempt may be dispatched again (to another replica, when the first one failed): it waits
// anew. One that is not streamed shows no first token and is never counted as waiting.
//
// Callers are remembered while they have something in flight. Constant time an operation.

#pragma once

#include <cstdint>
#include <vector>

#include "admission/policy.h"
#include "base/key_table.h"
#include "core/request_view.h"

namespace inferscale {

// What one caller has in flight.
struct CallerShare {
  std::int64_t in_flight = 0;
  TokenCount tokens = 0;
};

// Who waits for a first token, and the prompt tokens that are to be computed for them.
struct WaitingShare {
  std::int64_t requests = 0;
  TokenCount prompt_tokens = 0;
};

// Shares by key; a caller with nothing in flight is not kept.
class CallerShares {
 public:
  CallerShare of(CallerKey caller) const;
  void add(CallerKey caller, TokenCount tokens);
  // REQUIRES: it was added.
  void remove(CallerKey caller, TokenCount tokens);

 private:
  KeyTable places_;
  std::vector<CallerShare> shares_;
  std::vector<std::uint32_t> unused_;
};

struct LedgerEntry {
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  RequestView request;
  Instant admitted_at;
  Instant dispatched_at = Instant::never();
  Instant first_token = Instant::never();
  std::int64_t in_flight_at_admission = 0;
  std::uint32_t replica = kNowhere;
  std::uint32_t generation = 0;  // of the slot: tells a ticket from an earlier one's
  bool is_shadow = false;        // decided by the shadow policy
  bool policy_knows = false;     // the policy admitted it, and is told how it ends
  bool in_use = false;
  // Its neighbours among those that wait at its replica, by dispatch.
  std::uint32_t before = kNowhere;
  std::uint32_t after = kNowhere;

  bool is_waiting() const {
    return request.streamed && replica != kNowhere && first_token == Instant::never();
  }
};

class Ledger {
 public:
  explicit Ledger(std::uint32_t replicas) : replicas_(replicas) {}

  // Returns the ticket.
  std::uint64_t admit(const RequestView& request, Instant now, bool is_shadow, bool policy_knows);
  // Null when it has ended.
  const LedgerEntry* find(std::uint64_t ticket) const;
  // REQUIRES for these: find() gives it.
  void dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now);
  void first_token(std::uint64_t ticket, Instant now);
  LedgerEntry end(std::uint64_t ticket);

  std::int64_t in_flight() const { return in_flight_; }
  TokenCount tokens_in_flight() const { return tokens_; }
  TokenCount output_tokens_in_flight() const { return output_tokens_; }
  // Admitted and not dispatched to any replica yet, and their prompt tokens to compute.
  std::int64_t undispatched() const { return undispatched_; }
  TokenCount undispatched_tokens() const { return undispatched_tokens_; }
  std::int64_t waiting() const { return waiting_; }
  std::int64_t in_flight_at(std::uint32_t replica) const { return replicas_[replica].in_flight; }
  TokenCount tokens_at(std::uint32_t replica) const { return replicas_[replica].tokens; }
  const WaitingShare& waiting_at(std::uint32_t replica) const { return replicas_[replica].waiting; }
  // The one that has waited longest; null when nobody waits.
  const LedgerEntry* oldest_waiting(std::uint32_t replica) const;
  CallerShare tenant(CallerKey key) const { return tenants_.of(key); }
  CallerShare session(CallerKey key) const { return sessions_.of(key); }

 private:
  struct AtReplica {
    std::int64_t in_flight = 0;
    TokenCount tokens = 0;
    WaitingShare waiting;
    std::uint32_t oldest = LedgerEntry::kNowhere;
    std::uint32_t newest = LedgerEntry::kNowhere;
  };

  void leave_replica(std::uint32_t slot);
  void link(std::uint32_t slot);
  void unlink(std::uint32_t slot);

  std::vector<AtReplica> replicas_;
  std::vector<LedgerEntry> entries_;
  std::vector<std::uint32_t> unused_;
  CallerShares tenants_;
  CallerShares sessions_;
  std::int64_t in_flight_ = 0;
  TokenCount tokens_ = 0;
  TokenCount output_tokens_ = 0;
  std::int64_t waiting_ = 0;
  std::int64_t undispatched_ = 0;
  TokenCount undispatched_tokens_ = 0;
};

}  // namespace inferscale
