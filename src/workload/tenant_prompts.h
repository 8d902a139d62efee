// Tenants whose prompts begin with a system prompt of their own.
//
// Tenant i of n has a share of the traffic in proportion to 1 / (i + 1)^s, with the Zipf exponent
// s: 0 makes all alike, 1 gives the first of 1000 tenants 13 %. A system prompt's length is drawn
// once for each tenant (stream "system_prompt_tokens"), and whose a request is once for each
// request or conversation (stream "tenants"). System prompts come before what the workload draws as
// the prompt, so prompts get longer by them and the draws of lengths stay what they are.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/distributions.h"
#include "base/random.h"
#include "core/request.h"
#include "workload/lengths.h"

namespace inferscale {

struct PrefixOptions {
  std::uint32_t tenants = 10;
  double zipf_exponent = 0;
  LengthOptions system_prompt_tokens;
};

inline constexpr std::uint32_t kMostTenants = 1'000'000;

class TenantPrompts {
 public:
  // Longer system prompts than `most_tokens` are cut to it. REQUIRES: 1 to kMostTenants tenants,
  // zipf_exponent at least 0, most_tokens at least 1.
  TenantPrompts(const PrefixOptions& options, std::uint32_t most_tokens, std::uint64_t run_seed);

  // Whose the next request or conversation is.
  std::uint32_t draw();
  // Stays where it is as long as this object.
  const ContentPiece& system_prompt(std::uint32_t tenant) const { return prompts_[tenant]; }

 private:
  RandomStream stream_;
  std::optional<WeightedIndex> index_;  // nothing: all alike
  std::vector<ContentPiece> prompts_;
};

// "tenant_0", "tenant_1", ...
std::string tenant_name(std::uint32_t tenant);

}  // namespace inferscale
