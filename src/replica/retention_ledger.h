// What becomes of the KV caches that chains leave on a replica with a batch, as time goes on.
//
// The blocks themselves are the prefix cache's. The ledger says when some of them are dropped (at
// the end of a call or of its chain, when a copy of them is in host memory), which tokens a call
// gets back from there, and adds up what was resident for how long.
//
//   a call ends ── ends its chain, or `recompute` ──> the chain's own content is dropped
//               ── `offload` ──> a copy moves out; what is in HBM can be read meanwhile
//                       │
//                       ├── the chain's next call is admitted first: HBM's stays
//                       └── the move is done: HBM's is dropped
//
// A call that is admitted finds in HBM what the prefix cache matches. Where host memory has more of
// its history, the difference is loaded before its first chunk is computed, in the same step: that
// lasts longer by what is left of the move out and by the transfer time of the difference. Its
// entry leaves host memory either way.
//
// Everything is done as of the instant at which it happens, however late the ledger is told of the
// time: pass_time() goes through expiries and drops in their order, and at one instant expiries
// come first. Cost: the logarithm of the moves under way for each, and nothing for what stays.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "core/kv_retention_usage.h"
#include "replica/host_tier.h"
#include "replica/prefix_cache.h"
#include "replica/replica.h"
#include "replica/sequence.h"

namespace inferscale {

class RetentionLedger {
 public:
  // `cache` is null where nothing is kept; it and `usage` outlive the ledger, at these places.
  // REQUIRES: options.retention, the role is kWhole, and the cache is as new.
  RetentionLedger(const ReplicaOptions& options, PrefixCache* cache, KvRetentionUsage& usage);

  // Time goes on to `now`, over which sequences held `held` KV blocks. REQUIRES: `now` is not
  // before the last one.
  void pass_time(BlockCount held, Instant now) {
    if (host_ || !drops_.empty() || options_.ttl) return pass_events(held, now);
    // Nothing happens by itself.
    add_up(held, now);
    if (cache_ != nullptr) cache_->set_time(now);
  }

  // Tokens that the request need not compute: those that match in HBM, or more of its history with
  // what host memory has. REQUIRES: the time is now.
  TokenCount cached(const Request& request, TokenCount matched) const;
  // The request is admitted with these. Returns by how long its first step is longer for it.
  Duration admitted(const Request& request, TokenCount matched, TokenCount cached, Instant now);
  // A call has ended with its `computed` tokens in the cache, and its blocks are released.
  void ended(const Sequence& sequence, Instant now);
  // As Replica::end_chain(): takes effect at `at`, when time gets there.
  void ended_elsewhere(const Request& request, Instant at);
  // All is lost, and the cache is as new.
  void begin_anew(Instant now);

 private:
  enum class Reason : std::uint8_t { kMovedOut, kEnded };
  struct Drop {
    Request request;
    Reason reason;
  };
  using Drops = std::multimap<Instant, Drop>;

  void pass_events(BlockCount held, Instant now);
  // Something that lasts no time is no peak: blocks change hands within an instant.
  void add_up(BlockCount held, Instant to) {
    if (to <= added_up_) return;
    const BlockCount idle = cache_ == nullptr ? 0 : cache_->cached();
    const double ns = static_cast<double>((to - added_up_).ns());
    const TokenCount resident = tokens_of(held + idle);
    usage_.idle_token_ns += ns * static_cast<double>(tokens_of(idle));
    usage_.resident_token_ns += ns * static_cast<double>(resident);
    usage_.resident_peak = std::max(usage_.resident_peak, resident);
    added_up_ = to;
  }
  TokenCount tokens_of(BlockCount blocks) const {
    const TokenCount tokens = blocks * layout_.block_tokens;
    return blocks_each_ == 1 ? tokens : tokens / blocks_each_;
  }
  void carry_out_first();
  void forget_move(std::uint32_t chain);
  // Of the chain's own content. Returns how many tokens.
  TokenCount drop(const Request& request);
  void move_out(const Request& request, TokenCount tokens, Instant now);
  void settle_host(Instant now);

  const KvRetentionOptions options_;
  const KvLayout layout_;
  const BlockCount blocks_each_;  // KV blocks for each block of tokens
  PrefixCache* cache_;
  KvRetentionUsage& usage_;
  std::optional<HostTier> host_;
  Instant host_settled_;
  Drops drops_;                                     // by when they are due
  std::map<std::uint32_t, Drops::iterator> moves_;  // by chain
  Instant added_up_;
};

}  // namespace inferscale
