// Tenants' shares of the traffic against Zipf's law, and what their prompts begin with.

#include "workload/tenant_prompts.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "workload/generated_source.h"

namespace inferscale {
namespace {

std::vector<int> shares(std::uint32_t tenants, double exponent, int draws) {
  TenantPrompts prompts({.tenants = tenants,
                         .zipf_exponent = exponent,
                         .system_prompt_tokens = {ConstantLength{100}}},
                        kMostTokens, 11);
  std::vector<int> counts(tenants);
  for (int i = 0; i < draws; ++i) ++counts[prompts.draw()];
  return counts;
}

// Pearson's statistic; `weights` need not add up to 1.
double chi_squared(const std::vector<int>& counts, const std::vector<double>& weights, int draws) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * weights[i] / sum;
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return statistic;
}

// 4 degrees of freedom: above 23.5 by chance once in 10,000 seeds.
TEST(TenantPrompts, HaveSharesAsZipfSays) {
  EXPECT_LT(chi_squared(shares(5, 0, 100'000), {1, 1, 1, 1, 1}, 100'000), 23.5);
  EXPECT_LT(chi_squared(shares(5, 1, 100'000), {60, 30, 20, 15, 12}, 100'000), 23.5);
  EXPECT_LT(chi_squared(shares(5, 2, 100'000), {3600, 900, 400, 225, 144}, 100'000), 23.5);
}

TEST(TenantPrompts, HaveALengthAndAKeyOfTheirOwn) {
  const PrefixOptions options = {.tenants = 1000,
                                 .system_prompt_tokens = {LognormalLength{800, 1}}};
  const TenantPrompts prompts(options, 2000, 1);
  const TenantPrompts longer(options, kMostTokens, 1);
  std::set<std::uint64_t> keys;
  std::uint32_t cut = 0;
  for (std::uint32_t tenant = 0; tenant < 1000; ++tenant) {
    keys.insert(prompts.system_prompt(tenant).key);
    const std::uint32_t tokens = longer.system_prompt(tenant).tokens;
    EXPECT_EQ(prompts.system_prompt(tenant).tokens, std::min(tokens, 2000U));
    cut += tokens > 2000;
  }
  EXPECT_EQ(keys.size(), 1000U);
  EXPECT_GT(cut, 10U);
  EXPECT_EQ(tenant_name(17), "tenant_17");
}

TEST(GeneratedSource, PutsSystemPromptsBeforeThePromptsThatItWouldHaveHad) {
  GeneratedOptions options = {.requests = 2000,
                              .arrivals = PoissonArrivals{.rate_rps = 10},
                              .prompt_tokens = {LognormalLength{512, 0.7}},
                              .output_tokens = {LognormalLength{256, 0.8}}};
  GeneratedSource plain(options, 7);
  options.prefixes = {
      .tenants = 20, .zipf_exponent = 1, .system_prompt_tokens = {LognormalLength{800, 0.5}}};
  GeneratedSource shared(options, 7);
  Request before;
  Request request;
  std::vector<const ContentPiece*> piece_of(20);
  while (plain.next(before)) {
    ASSERT_TRUE(shared.next(request));
    EXPECT_EQ(before.tenant, Request::kNobody);
    EXPECT_EQ(before.content_pieces, 0U);
    EXPECT_EQ(request.id, before.id);
    EXPECT_EQ(request.arrival, before.arrival);
    EXPECT_EQ(request.output_tokens, before.output_tokens);
    ASSERT_EQ(request.content_pieces, 1U);
    EXPECT_EQ(request.prompt_tokens, before.prompt_tokens + request.content->tokens);
    EXPECT_FALSE(request.output_is_content);
    ASSERT_LT(request.tenant, 20U);
    const ContentPiece*& piece = piece_of[request.tenant];
    if (piece == nullptr) piece = request.content;
    EXPECT_EQ(piece, request.content) << "one system prompt a tenant";
  }
  EXPECT_FALSE(shared.next(request));
}

}  // namespace
}  // namespace inferscale
