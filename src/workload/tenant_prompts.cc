#include "workload/tenant_prompts.h"

#include <algorithm>

#include "base/check.h"
#include "base/exact_math.h"
#include "workload/trace_content.h"

namespace inferscale {

TenantPrompts::TenantPrompts(const PrefixOptions& options, std::uint32_t most_tokens,
                             std::uint64_t run_seed)
    : stream_(run_seed, "tenants") {
  CHECK(options.tenants >= 1 && options.tenants <= kMostTenants) << options.tenants << " tenants";
  CHECK(options.zipf_exponent >= 0) << "Zipf exponent " << options.zipf_exponent;
  CHECK(most_tokens >= 1);
  LengthSampler lengths(options.system_prompt_tokens,
                        RandomStream(run_seed, "system_prompt_tokens"));
  const std::uint64_t scope = stable_hash("system prompts");
  prompts_.reserve(options.tenants);
  for (std::uint32_t tenant = 0; tenant < options.tenants; ++tenant) {
    prompts_.push_back({content_key(scope, tenant), std::min(lengths.draw(), most_tokens)});
  }
  if (options.zipf_exponent == 0) return;
  std::vector<double> weights;
  weights.reserve(options.tenants);
  for (std::uint32_t rank = 1; rank <= options.tenants; ++rank) {
    weights.push_back(1 / exact_pow(rank, options.zipf_exponent));
  }
  index_.emplace(weights);
}

std::uint32_t TenantPrompts::draw() {
  if (index_) return static_cast<std::uint32_t>(index_->draw(stream_));
  return static_cast<std::uint32_t>(stream_.below(prompts_.size()));
}

std::string tenant_name(std::uint32_t tenant) {
  return "tenant_" + std::to_string(tenant);
}

}  // namespace inferscale
