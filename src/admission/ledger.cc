#include "admission/ledger.h"

#include "base/check.h"

namespace inferscale {
namespace {

std::uint32_t slot_of(std::uint64_t ticket) {
  return static_cast<std::uint32_t>(ticket);
}

TokenCount output_of(const RequestView& request) {
  return request.predicted_output_tokens * static_cast<TokenCount>(request.sequences);
}

}  // namespace

CallerShare CallerShares::of(CallerKey caller) const {
  if (caller == kNoCaller) return {};
  const std::uint32_t place = places_.find(caller);
  return place == KeyTable::kNone ? CallerShare{} : shares_[place];
}

void CallerShares::add(CallerKey caller, TokenCount tokens) {
  if (caller == kNoCaller) return;
  std::uint32_t place = places_.find(caller);
  if (place == KeyTable::kNone) {
    if (unused_.empty()) {
      place = static_cast<std::uint32_t>(shares_.size());
      shares_.emplace_back();
    } else {
      place = unused_.back();
      unused_.pop_back();
    }
    places_.insert(caller, place);
  }
  ++shares_[place].in_flight;
  shares_[place].tokens += tokens;
}

void CallerShares::remove(CallerKey caller, TokenCount tokens) {
  if (caller == kNoCaller) return;
  const std::uint32_t place = places_.find(caller);
  CHECK(place != KeyTable::kNone) << "a caller that has nothing in flight";
  CallerShare& share = shares_[place];
  share.tokens -= tokens;
  if (--share.in_flight > 0) return;
  share = {};
  places_.erase(caller);
  unused_.push_back(place);
}

std::uint64_t Ledger::admit(const RequestView& request, Instant now, bool is_shadow,
                            bool policy_knows) {
  std::uint32_t slot = 0;
  if (unused_.empty()) {
    slot = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    slot = unused_.back();
    unused_.pop_back();
  }
  LedgerEntry& entry = entries_[slot];
  entry = {.request = request,
           .admitted_at = now,
           .in_flight_at_admission = ++in_flight_,
           .generation = entry.generation,
           .is_shadow = is_shadow,
           .policy_knows = policy_knows,
           .in_use = true};
  ++undispatched_;
  undispatched_tokens_ += request.tokens_to_compute();
  tokens_ += request.tokens();
  output_tokens_ += output_of(request);
  tenants_.add(request.tenant, request.tokens());
  sessions_.add(request.session, request.tokens());
  return static_cast<std::uint64_t>(entry.generation) << 32 | slot;
}

const LedgerEntry* Ledger::find(std::uint64_t ticket) const {
  const std::uint32_t slot = slot_of(ticket);
  if (slot >= entries_.size()) return nullptr;
  const LedgerEntry& entry = entries_[slot];
  return entry.in_use && entry.generation == ticket >> 32 ? &entry : nullptr;
}

void Ledger::dispatched(std::uint64_t ticket, std::uint32_t replica, Instant now) {
  CHECK(replica < replicas_.size()) << "replica " << replica << " of " << replicas_.size();
  const std::uint32_t slot = slot_of(ticket);
  leave_replica(slot);
  LedgerEntry& entry = entries_[slot];
  entry.replica = replica;
  entry.dispatched_at = now;
  entry.first_token = Instant::never();
  ++replicas_[replica].in_flight;
  replicas_[replica].tokens += entry.request.tokens();
  if (entry.is_waiting()) link(slot);
}

void Ledger::first_token(std::uint64_t ticket, Instant now) {
  const std::uint32_t slot = slot_of(ticket);
  LedgerEntry& entry = entries_[slot];
  if (entry.is_waiting()) unlink(slot);
  if (entry.first_token == Instant::never()) entry.first_token = now;
}

LedgerEntry Ledger::end(std::uint64_t ticket) {
  const std::uint32_t slot = slot_of(ticket);
  leave_replica(slot);
  LedgerEntry& entry = entries_[slot];
  const LedgerEntry ended = entry;
  --in_flight_;
  tokens_ -= entry.request.tokens();
  output_tokens_ -= output_of(entry.request);
  tenants_.remove(entry.request.tenant, entry.request.tokens());
  sessions_.remove(entry.request.session, entry.request.tokens());
  entry.in_use = false;
  ++entry.generation;
  unused_.push_back(slot);
  return ended;
}

const LedgerEntry* Ledger::oldest_waiting(std::uint32_t replica) const {
  const std::uint32_t slot = replicas_[replica].oldest;
  return slot == LedgerEntry::kNowhere ? nullptr : &entries_[slot];
}

// Or its way to one.
void Ledger::leave_replica(std::uint32_t slot) {
  LedgerEntry& entry = entries_[slot];
  if (entry.replica == LedgerEntry::kNowhere) {
    --undispatched_;
    undispatched_tokens_ -= entry.request.tokens_to_compute();
    return;
  }
  if (entry.is_waiting()) unlink(slot);
  --replicas_[entry.replica].in_flight;
  replicas_[entry.replica].tokens -= entry.request.tokens();
}

void Ledger::link(std::uint32_t slot) {
  LedgerEntry& entry = entries_[slot];
  AtReplica& at = replicas_[entry.replica];
  entry.before = at.newest;
  entry.after = LedgerEntry::kNowhere;
  (at.newest == LedgerEntry::kNowhere ? at.oldest : entries_[at.newest].after) = slot;
  at.newest = slot;
  ++at.waiting.requests;
  at.waiting.prompt_tokens += entry.request.tokens_to_compute();
  ++waiting_;
}

void Ledger::unlink(std::uint32_t slot) {
  LedgerEntry& entry = entries_[slot];
  AtReplica& at = replicas_[entry.replica];
  (entry.before == LedgerEntry::kNowhere ? at.oldest : entries_[entry.before].after) = entry.after;
  (entry.after == LedgerEntry::kNowhere ? at.newest : entries_[entry.after].before) = entry.before;
  entry.before = LedgerEntry::kNowhere;
  entry.after = LedgerEntry::kNowhere;
  --at.waiting.requests;
  at.waiting.prompt_tokens -= entry.request.tokens_to_compute();
  --waiting_;
}

}  // namespace inferscale
