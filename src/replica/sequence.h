// A request inside a replica, from its admission to its end, preemptions included.

#pragma once

#include <cstdint>

#include "core/outcome.h"
#include "core/request.h"
#include "replica/gap_tracker.h"
#include "replica/prefix_cache.h"

namespace inferscale {

struct Sequence {
  Request request;
  Instant start = Instant::never();
  Instant first_token = Instant::never();
  Instant last_token = Instant::never();  // kept up to date while it does not share gaps
  GapRecord gaps;
  TokenCount computed =
      0;  // tokens in the cache while it is partial; while decoding see DecodeGroup
  PrefixCache::Hold hold;        // content that it shares
  BlockCount prefix_blocks = 0;  // of the resident shared prefix, not its own
  BlockCount reserved = 0;       // blocks from admission to the end, where the scheduler reserves
  std::uint32_t generated = 0;   // tokens so far; while decoding see DecodeGroup
  std::uint32_t preemptions = 0;
  std::uint32_t cached_tokens = 0;  // found in the cache at its first admission
  bool handed_over = false;         // its prompt was computed by a prefill replica

  // Tokens that must be in the cache before the next token comes.
  TokenCount target() const { return static_cast<TokenCount>(request.prompt_tokens) + generated; }
  TokenCount requested_left() const {
    return static_cast<TokenCount>(request.max_tokens) - generated;
  }
};

// The record of a sequence in its final state.
Outcome outcome_of(const Sequence& sequence, OutcomeStatus status, Instant finish);
// The record of a sequence whose caller has gone: with the tokens that it has.
Outcome abandoned_outcome(const Sequence& sequence);
// The record of a request that never became a sequence.
Outcome outcome_of(const Request& request, OutcomeStatus status, Reason reason);

}  // namespace inferscale
