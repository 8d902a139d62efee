#include "admission/enforcement.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

RequestView of_tenant(CallerKey tenant, std::uint64_t request = 1, std::uint32_t attempt = 0) {
  return {.request = request, .attempt = attempt, .tenant = tenant};
}

TEST(Enforcement, SipHashGivesThePublishedVector) {
  // The reference implementation's vector for key 00 01 .. 0f and the input 00 01 .. 07.
  EXPECT_EQ(sip_hash(0x0706050403020100U, 0x0f0e0d0c0b0a0908U, 0x0706050403020100U),
            0x93f5f5799a932462U);
}

TEST(Enforcement, F1TheSplitIsTheSameInEveryProcess) {
  // Written down: a hash that differs by process, machine or version breaks these.
  std::string drawn;
  for (CallerKey tenant = 1; tenant <= 24; ++tenant) {
    drawn += is_governed(of_tenant(tenant), 0.5, EnforceBy::kTenant, 7) ? '1' : '0';
  }
  EXPECT_EQ(drawn, "111100111110100011010110");
}

TEST(Enforcement, EveryRetryAndEveryCallOfATenantFallsOnTheSameSide) {
  for (CallerKey tenant = 1; tenant <= 100; ++tenant) {
    const bool first = is_governed(of_tenant(tenant), 0.3, EnforceBy::kTenant, 7);
    EXPECT_EQ(is_governed(of_tenant(tenant, 2, 5), 0.3, EnforceBy::kTenant, 7), first);
  }
}

TEST(Enforcement, AGreaterShareGovernsWhomASmallerOneDid) {
  for (CallerKey tenant = 1; tenant <= 1000; ++tenant) {
    if (!is_governed(of_tenant(tenant), 0.2, EnforceBy::kTenant, 7)) continue;
    EXPECT_TRUE(is_governed(of_tenant(tenant), 0.6, EnforceBy::kTenant, 7));
  }
}

TEST(Enforcement, TheShareOfManyTenantsIsAsConfigured) {
  int governed = 0;
  for (CallerKey tenant = 1; tenant <= 10'000; ++tenant) {
    governed += is_governed(of_tenant(tenant), 0.25, EnforceBy::kTenant, 7) ? 1 : 0;
  }
  // Five standard deviations of a binomial count: sqrt(10000 x 0.25 x 0.75) = 43.
  EXPECT_NEAR(governed, 2500, 217);
}

TEST(Enforcement, AnotherKeyGovernsOthers) {
  int same = 0;
  for (CallerKey tenant = 1; tenant <= 1000; ++tenant) {
    same += is_governed(of_tenant(tenant), 0.5, EnforceBy::kTenant, 7) ==
                    is_governed(of_tenant(tenant), 0.5, EnforceBy::kTenant, 8)
                ? 1
                : 0;
  }
  EXPECT_NEAR(same, 500, 80);
}

TEST(Enforcement, NobodyAndEverybodyNeedNoHash) {
  EXPECT_FALSE(is_governed(of_tenant(1), 0, EnforceBy::kTenant, 7));
  EXPECT_TRUE(is_governed(of_tenant(1), 1, EnforceBy::kTenant, 7));
}

TEST(Enforcement, WithoutATenantTheSessionCounts) {
  RequestView call{.request = 1, .session = 5, .root_session = 4};
  const bool side = is_governed(call, 0.5, EnforceBy::kTenant, 7);
  call.request = 2;
  call.session = 6;  // another sub-agent of the same root
  EXPECT_EQ(is_governed(call, 0.5, EnforceBy::kTenant, 7), side);
}

}  // namespace
}  // namespace inferscale
