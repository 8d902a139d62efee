// The HBM of a serial station: what its running call holds, and what chains left there.
//
// A chain has one entry at most, of the tokens that its last call left. All counts are tokens of
// whole blocks.
//
//   keep()         the entry is idle until its TTL ends: gone at t + TTL, that instant included
//   keep_moving()  it moves to host memory, and is here until that is done; it cannot be evicted
//   make_room()    evicts idle entries, the one whose call ended longest ago first
//   begin_call()   takes the chain's entry: what the call makes of it is part of what it holds
//
// Time is told by settle(); entries that leave between two calls of it count in the integrals up to
// the very instant at which they left.
//
// Invariant: held() + idle() is at most the capacity. Cost: constant, but the logarithm of the
// entries that leave by themselves for each change of these. Memory: about 65 bytes for an entry,
// and 48 for one that leaves by itself.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/key_table.h"
#include "base/time.h"
#include "core/kv_retention_usage.h"
#include "core/request.h"

namespace inferscale {

class SessionStore {
 public:
  // `usage` outlives the store: it adds up what happens here.
  SessionStore(TokenCount capacity, std::optional<Duration> ttl, KvRetentionUsage& usage)
      : capacity_(capacity), ttl_(ttl), usage_(usage) {}

  // Time goes on to `now`: entries whose time is over leave, and the integrals are added up.
  // REQUIRES: `now` never falls. The others happen at the instant of the last settle().
  void settle(Instant now);

  TokenCount held() const { return held_; }
  TokenCount idle() const { return idle_; }

  // Evicts entries of chains other than `chain` until `tokens` fit beside what stays. False: they
  // do not fit before something has moved out, at next_departure() or later.
  bool make_room(std::optional<std::uint32_t> chain, TokenCount tokens);
  // A call holds `tokens` from now on, its chain's entry among them. Returns how many idle tokens
  // the chain had here: none when they were moving out. REQUIRES: they fit, and nobody holds any.
  TokenCount begin_call(std::optional<std::uint32_t> chain, TokenCount tokens);
  void end_call() { held_ = 0; }

  // REQUIRES for both: the chain has no entry, and there is room.
  void keep(std::uint32_t chain, TokenCount tokens);
  void keep_moving(std::uint32_t chain, TokenCount tokens, Instant done);
  // When the next entry leaves by itself; never() when none does.
  Instant next_departure() const;
  // The chain has ended elsewhere.
  void drop_ended(std::uint32_t chain);
  // All is lost.
  void clear();

  // In constant time: what is broken, or null.
  const char* broken_invariant() const;

 private:
  static constexpr std::uint32_t kNobody = KeyTable::kNone;

  struct Entry {
    std::uint32_t chain;
    bool moving;
    TokenCount tokens;
    Instant gone;                    // never(): not by itself
    std::uint32_t before = kNobody;  // whose call ended before its
    std::uint32_t after = kNobody;
  };

  void add_up(Instant to);
  void add(const Entry& entry);
  void remove(std::uint32_t place);

  TokenCount capacity_;
  std::optional<Duration> ttl_;
  KvRetentionUsage& usage_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> unused_;  // places in entries_
  std::uint32_t oldest_ = kNobody;     // the one whose call ended longest ago
  std::uint32_t newest_ = kNobody;
  KeyTable by_chain_;                                       // places
  std::set<std::pair<Instant, std::uint32_t>> departures_;  // with the chain
  TokenCount idle_ = 0;
  TokenCount held_ = 0;
  Instant settled_;
};

}  // namespace inferscale
