// What a source of signals and requests can supply, and whether that is enough for a policy: judged
// at start-up, before anything is admitted.

#pragma once

#include <string>
#include <string_view>

#include "admission/policy.h"
#include "base/result.h"

namespace inferscale {

struct SignalSupply {
  std::string source;  // as errors name it: "the simulated engine", "vllm at http://..."
  SignalSet signals;   // of its metrics page; the ledger's are always there
  bool service_model = false;
  bool outcomes = false;  // somebody tells how admitted attempts ended
  // Of requests.
  std::string workload;  // as errors name where requests come from
  RequestNeeds request;  // what they carry
};

// An error that names the policy, what it needs and the source that does not have it.
Result<void> check_supply(std::string_view policy, const PolicyNeeds& needs,
                          const SignalSupply& supply);

}  // namespace inferscale
