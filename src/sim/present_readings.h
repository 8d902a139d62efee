// Readings that are never old: for each choice the router compares replicas as they are just before
// its instant, though only a few are read.
//
// Reading everybody is linear in the replicas. But between its events (something is done to it, or
// it wakes) a replica's load goes on in a known way: each decode step takes one token of each
// decoding sequence out of those in flight, and writes one to the KV cache. So
//
//   KV blocks held       only grow:  a reading is a lower bound until the next event
//   tokens in flight     only fall:  T - s, from a reading of T, is one until more than s are gone,
//                                    at the end of a known step (Replica::token_floor)
//
// and what the router was told last of a replica is kept a lower bound at every choice: read again
// are those at which something happened since the last choice, and those whose bound has run out.
// The router asks see() for the present state of the one with the least bound, until that is no
// bound but the truth. All others are at least at their bounds, and so no better: the choice is the
// one that reading everybody would lead to, ties included, since a bound differs from the truth in
// nothing but the load that comes first in comparisons.
//
// s is half of what the replica is above the least one. A replica that falls from far above to the
// least is then read about log2(distance / tokens of a step) times on the way, not at each step.
//
// Of tokens in flight a replica also knows, without asking which steps have ended, between which
// two numbers they stay until its next event (Replica::token_range). An event after which they stay
// above the bound that stands changes nothing; where they may fall below it, but not down to the
// least load, the bound goes half way down to that, and holds until the next event. A bound that
// has become the least is first raised so (raise()), and seen only where that does not do.
//
// Cost: logarithmic time for each reading. Each event costs one, each choice at least one, and each
// way down from one event to the next O(log(distance)): so readings go with events, not with
// replicas times choices. (Where choices are so rare that all bounds run out between two of them,
// everybody is read for each.)

#pragma once

#include <cstdint>
#include <vector>

#include "routing/load_source.h"
#include "routing/router.h"
#include "sim/pool_member.h"
#include "sim/wake_queue.h"

namespace inferscale {

class PresentReadings final : public LoadSource {
 public:
  // All outlive it. The router has read nobody yet.
  PresentReadings(const std::vector<PoolMember>& members, Router& router,
                  const NeededSignals& needed);

  // Something happened at the member.
  void touched(std::uint32_t member) {
    if (known_[member].changed) return;
    known_[member].changed = true;
    changes_.push_back(member);
  }
  // The router forgot what it had read there, and nothing goes on there.
  void forgotten(std::uint32_t member);
  // A choice at `now` comes next: all that the router has read are lower bounds then.
  void begin_choice(Instant now);
  bool see(std::uint32_t member) override;
  bool raise(std::uint32_t member) override;
  TokenBounds bounds(std::uint32_t member) override;
  void changed(std::uint32_t member) override { touched(member); }

 private:
  struct Known {
    TokenCount tokens = 0;                   // as the router was told
    Instant exact_until = Instant::never();  // that holds exactly for choices up to then
    bool changed = false;                    // something happened since the last choice
  };

  TokenRange range(std::uint32_t member) const { return members_[member].replica->token_range(); }
  bool is_still_bound(std::uint32_t member);
  // A bound that may go half way down to `level`.
  void read_tokens(std::uint32_t member, TokenCount level);
  void read_kv(std::uint32_t member);
  void tell(std::uint32_t member, TokenCount tokens);

  const std::vector<PoolMember>& members_;
  Router& router_;
  bool tokens_;     // they are what is read, else KV blocks
  Instant now_;     // of the choice
  Instant before_;  // what ends at the instant of the choice has not ended yet
  std::vector<Known> known_;
  WakeQueue bounds_end_;  // after these instants
  std::vector<std::uint32_t> changes_;
};

}  // namespace inferscale
