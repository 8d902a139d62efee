#include "metrics/admission_tokens.h"

#include <vector>

namespace inferscale {
namespace {

bool is_useful(const Outcome& request, const Slo& slo) {
  return slo.any() ? slo_met(slo, request) : request.finished();
}

// Files a request's work, all attempts together, under what became of it.
void file_request(const Outcome& request, TokenSums worked, const Slo& slo, TokenUse& use) {
  if (!request.finished()) {
    use.gone += worked;
    return;
  }
  const TokenSums counts = tokens_of(request);
  (is_useful(request, slo) ? use.useful : use.missed) += counts;
  use.repeated += worked - counts;
}

}  // namespace

TokenSums tokens_of(const Outcome& attempt) {
  const bool generated = attempt.finished() || (attempt.status == OutcomeStatus::kAbandoned &&
                                                attempt.first_token != Instant::never());
  if (!generated) return {};
  return {.prompt = TokenCount{attempt.prompt_tokens} - TokenCount{attempt.cached_tokens},
          .output = attempt.output_tokens};
}

TokenUse token_use(std::span<const Outcome> attempts, std::span<const Outcome> requests,
                   const ClientRecords* clients, const Slo& slo, const RequestClasses& classes) {
  std::vector<TokenSums> worked(requests.size());
  TokenUse use;
  for (std::size_t id = 0; id < attempts.size(); ++id) {
    const TokenSums tokens = tokens_of(attempts[id]);
    use.worked += tokens;
    worked[clients == nullptr ? id : clients->request_of[id]] += tokens;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    file_request(requests[i], worked[i], classes.slo(i, slo), use);
  }
  return use;
}

}  // namespace inferscale
