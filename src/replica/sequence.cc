#include "replica/sequence.h"

#include <algorithm>
#include <limits>

namespace inferscale {

Outcome outcome_of(const Sequence& sequence, OutcomeStatus status, Instant finish) {
  Outcome outcome = outcome_of(sequence.request, status, Reason::kNone);
  outcome.start = sequence.start;
  outcome.first_token = sequence.first_token;
  outcome.finish = finish;
  outcome.cached_tokens = sequence.cached_tokens;
  outcome.itl_max = sequence.gaps.longest;
  outcome.gaps_over_limit = sequence.gaps.over;
  outcome.preemptions = static_cast<std::uint16_t>(
      std::min<std::uint32_t>(sequence.preemptions, std::numeric_limits<std::uint16_t>::max()));
  return outcome;
}

Outcome abandoned_outcome(const Sequence& sequence) {
  Outcome outcome = outcome_of(sequence, OutcomeStatus::kAbandoned, Instant::never());
  outcome.reason = Reason::kClientGone;
  outcome.output_tokens = sequence.generated;
  return outcome;
}

Outcome outcome_of(const Request& request, OutcomeStatus status, Reason reason) {
  Outcome outcome;
  outcome.arrival = request.arrival;
  outcome.prompt_tokens = request.prompt_tokens;
  outcome.output_tokens = request.output_tokens;
  outcome.status = status;
  outcome.reason = reason;
  return outcome;
}

}  // namespace inferscale
