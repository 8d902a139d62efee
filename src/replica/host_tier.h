// Host memory beside one replica's HBM: the KV caches of idle chains, moved out and back.
//
//   transfer time = base_latency + bytes / bandwidth
//
// A move out begins when a call ends; the entry takes its room in host memory from then on. A chain
// has one entry at most. When there is no room, entries are dropped, the one whose move out began
// longest ago first; what is larger than the whole tier is not taken.
//
// Cost: constant but for a look-up of the chain. Memory: about 60 bytes for each entry.

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>

#include "core/kv_retention_usage.h"
#include "replica/kv_retention.h"

namespace inferscale {

class HostTier {
 public:
  // `usage` outlives the tier: it adds up what it does there.
  HostTier(const HostTierOptions& options, double kv_bytes_per_token, KvRetentionUsage& usage);

  struct Entry {
    TokenCount tokens = 0;
    Instant done;  // of its move out
  };

  // The chain's `tokens` tokens begin to move out at `now`, in place of an entry that it has.
  // Returns when they are there; nothing when they are not taken. REQUIRES: `now` does not fall
  // from call to call, as for the others.
  std::optional<Instant> offload(std::uint32_t chain, TokenCount tokens, Instant now);
  std::optional<Entry> find(std::uint32_t chain) const;
  // The chain's next call takes `tokens` tokens of its entry back, which leaves the tier at once.
  // Returns how long that takes beside what is left of the move out. REQUIRES: there is an entry,
  // and it has as many.
  Duration restore(std::uint32_t chain, TokenCount tokens, Instant now);
  // It is of no use any more.
  void drop(std::uint32_t chain, Instant now);
  // Adds up the integrals to `now`.
  void settle(Instant now);
  void clear(Instant now);

  Duration transfer_time(TokenCount tokens) const;
  TokenCount tokens() const { return tokens_; }

 private:
  struct Kept {
    std::uint32_t chain;
    Entry entry;
  };
  double bytes_of(TokenCount tokens) const;
  void remove(std::list<Kept>::iterator kept);

  HostTierOptions options_;
  double kv_bytes_per_token_;
  KvRetentionUsage& usage_;
  std::list<Kept> kept_;  // the one offloaded longest ago first
  std::map<std::uint32_t, std::list<Kept>::iterator> by_chain_;
  TokenCount tokens_ = 0;
  Instant settled_;
};

}  // namespace inferscale
