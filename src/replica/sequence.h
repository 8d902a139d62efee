// A request inside a replica, from its admission to its end, preemptions included.

#pragma once

#include <cstdint>

#include "core/outcome.h"
#include "core/request.h"
#include "replica/gap_tracker.h"

namespace inferscale {

struct Sequence {
  Request request;
  Instant start = Instant::never();
  Instant first_token = Instant::never();
  Instant last_token = Instant::never();  // kept up to date while it does not share gaps
  GapRecord gaps;
  std::uint32_t generated = 0;  // tokens so far; while decoding see SegmentReplica
  std::uint32_t preemptions = 0;
  BlockCount reserved = 0;  // blocks held from admission to the end, where the scheduler reserves

  // Tokens that a prefill must compute before the next token comes: the prompt, and after a
  // preemption what had been generated.
  TokenCount prefill_tokens() const {
    return static_cast<TokenCount>(request.prompt_tokens) + generated;
  }
};

// The record of a sequence in its final state.
Outcome outcome_of(const Sequence& sequence, OutcomeStatus status, Instant finish);
// The record of a request that never became a sequence.
Outcome outcome_of(const Request& request, OutcomeStatus status, RefusalReason reason);

}  // namespace inferscale
