// Work that nobody had anything of.
//
// Of all attempts: prompt tokens that were computed (found in a cache: not computed) and output
// tokens that were generated. Useful are, of each request that met its SLO (where none is set:
// that finished), its prompt once and the answer that its client kept; everything else is wasted:
//
//   missed      of the attempt that counts, of requests that finished and missed their SLO
//   gone        of requests whose clients gave up, left or went elsewhere
//   repeated    of the other attempts of requests that finished: answers that came after the client
//               had gone, broken streams, prompts computed again to resume one
//
// What is not known is not counted: what an engine had computed of a prompt that was cut off before
// its first token, or that was lost with a replica or cut short by the end of the run.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/client_record.h"
#include "core/outcome.h"
#include "core/slo.h"
#include "core/slo_class.h"

namespace inferscale {

struct TokenSums {
  TokenCount prompt = 0;  // computed
  TokenCount output = 0;  // generated

  TokenCount all() const { return prompt + output; }
  TokenSums& operator+=(TokenSums other) {
    prompt += other.prompt;
    output += other.output;
    return *this;
  }
  TokenSums operator-(TokenSums other) const {
    return {prompt - other.prompt, output - other.output};
  }
};

struct TokenUse {
  TokenSums worked;  // of all attempts
  TokenSums useful;
  TokenSums missed;
  TokenSums gone;
  TokenSums repeated;

  TokenSums wasted() const { return worked - useful; }
  // Of all tokens that were computed or generated.
  std::optional<double> wasted_share() const {
    if (worked.all() == 0) return std::nullopt;
    return static_cast<double>(wasted().all()) / static_cast<double>(worked.all());
  }
};

// What an attempt computed and generated.
TokenSums tokens_of(const Outcome& attempt);

// `requests` are the folded `attempts`; `clients` null: every attempt is a request of its own.
// `classes` are of the requests.
TokenUse token_use(std::span<const Outcome> attempts, std::span<const Outcome> requests,
                   const ClientRecords* clients, const Slo& slo,
                   const RequestClasses& classes = {});

}  // namespace inferscale
