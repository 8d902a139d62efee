#include "admission/policies/token_bucket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "admission/policy_test_support.h"
#include "base/random.h"

namespace inferscale {
namespace {

Decision present(AdmissionPolicy& policy, FakePool& pool, const RequestView& request) {
  const Decision decision = policy.decide(request, pool);
  if (decision.admitted()) policy.on_admit(request, pool.now());
  return decision;
}

bool admits(AdmissionPolicy& policy, double seconds, TokenCount prompt_tokens) {
  FakePool pool;
  pool.set_now(seconds);
  return present(policy, pool, {.prompt_tokens = prompt_tokens}).admitted();
}

TEST(TokenBucket, TenThousandPromptTokensAndThenAThousandASecond) {
  const auto policy = make_policy_for_test("token_bucket");
  EXPECT_TRUE(admits(*policy, 5, 6'000));
  EXPECT_TRUE(admits(*policy, 5, 4'000));
  EXPECT_FALSE(admits(*policy, 5, 1));
  EXPECT_FALSE(admits(*policy, 6, 1'001));
  EXPECT_TRUE(admits(*policy, 6, 1'000));
  EXPECT_FALSE(admits(*policy, 6.4999, 500));
  EXPECT_TRUE(admits(*policy, 6.5, 500));
  EXPECT_FALSE(admits(*policy, 1'000, 10'001));  // never holds more than its capacity
  EXPECT_TRUE(admits(*policy, 1'000, 10'000));
  EXPECT_FALSE(admits(*policy, 1'000, 1));
}

TEST(TokenBucket, IsRefusedForTheRateOfItsCaller) {
  const auto policy = make_policy_for_test("token_bucket", {{"capacity", "10"}});
  FakePool pool;
  const Decision refused = policy->decide({.prompt_tokens = 11}, pool);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kRateLimit);
}

// Against the definition in whole numbers: billionths of a token, a nanosecond's inflow each.
TEST(TokenBucket, LevelsAreExactOverManyArrivals) {
  constexpr std::int64_t kCapacity = 5'000;
  constexpr std::int64_t kRefill = 777;
  const auto policy =
      make_policy_for_test("token_bucket", {{"capacity", "5000"}, {"refill_per_s", "777"}});
  RandomStream random(3, "arrivals");
  FakePool pool;
  std::int64_t level = kCapacity * 1'000'000'000;
  Instant last;
  double seconds = 0;
  for (int i = 0; i < 100'000; ++i) {
    seconds += random.below(50) == 0 ? 10 * random.uniform() : random.uniform();
    pool.set_now(seconds);
    level = std::min(kCapacity * 1'000'000'000, level + (pool.now() - last).ns() * kRefill);
    last = pool.now();
    const auto cost = static_cast<TokenCount>(random.below(1'500));
    const bool expected = cost * 1'000'000'000 <= level;
    ASSERT_EQ(present(*policy, pool, {.prompt_tokens = cost}).admitted(), expected) << i;
    if (expected) level -= cost * 1'000'000'000;
  }
}

TEST(TokenBucket, CostsWhatIsConfigured) {
  const RequestView request = {
      .sequences = 2, .prompt_tokens = 100, .predicted_output_tokens = 30};  // 160 in all
  const auto fits = [&](const char* cost, const char* capacity) {
    const auto policy =
        make_policy_for_test("token_bucket", {{"cost", cost}, {"capacity", capacity}});
    FakePool pool;
    return policy->decide(request, pool).admitted();
  };
  EXPECT_TRUE(fits("request", "1"));
  EXPECT_FALSE(fits("prompt_tokens", "99"));
  EXPECT_TRUE(fits("prompt_tokens", "100"));
  EXPECT_FALSE(fits("tokens", "159"));
  EXPECT_TRUE(fits("tokens", "160"));
}

TEST(TokenBucket, OnlyTheCostInTokensNeedsAPredictedOutput) {
  const auto needs_prediction = [](const char* cost) {
    return make_policy_for_test("token_bucket", {{"cost", cost}})->needs().request.predicted_output;
  };
  EXPECT_TRUE(needs_prediction("tokens"));
  EXPECT_FALSE(needs_prediction("prompt_tokens"));
}

TEST(TokenBucket, ADeferSaysWhenTheBucketHoldsEnough) {
  const auto policy = make_policy_for_test("token_bucket", {{"then", "defer"}});
  FakePool pool;
  EXPECT_TRUE(present(*policy, pool, {.prompt_tokens = 9'000}).admitted());
  const Decision deferred = present(*policy, pool, {.prompt_tokens = 3'500});
  EXPECT_EQ(deferred.verdict, Verdict::kDefer);
  ASSERT_TRUE(deferred.retry_after.has_value());
  EXPECT_EQ(*deferred.retry_after, Duration::from_seconds(2.5));
  EXPECT_FALSE(admits(*policy, 2.499999999, 3'500));
  EXPECT_TRUE(admits(*policy, 2.5, 3'500));
}

TEST(TokenBucket, WhatNoBucketCanHoldIsNotDeferred) {
  const auto policy = make_policy_for_test("token_bucket", {{"then", "defer"}});
  FakePool pool;
  EXPECT_EQ(present(*policy, pool, {.prompt_tokens = 10'001}).verdict, Verdict::kReject);
}

TEST(TokenBucket, EachCallerHasABucketOfItsOwn) {
  const auto policy =
      make_policy_for_test("token_bucket", {{"per", "tenant"}, {"capacity", "100"}});
  FakePool pool;
  EXPECT_TRUE(present(*policy, pool, {.tenant = 1, .prompt_tokens = 100}).admitted());
  EXPECT_FALSE(present(*policy, pool, {.tenant = 1, .prompt_tokens = 1}).admitted());
  EXPECT_TRUE(present(*policy, pool, {.tenant = 2, .prompt_tokens = 100}).admitted());
}

TEST(TokenBucket, OfAMillionTenantsOnlyTheLatestAreRemembered) {
  const auto policy = make_policy_for_test(
      "token_bucket", {{"per", "tenant"}, {"capacity", "1"}, {"most_callers", "1000"}});
  FakePool pool;
  for (CallerKey tenant = 0; tenant < 1'000'000; ++tenant) {
    ASSERT_TRUE(present(*policy, pool, {.tenant = tenant, .prompt_tokens = 1}).admitted());
  }
  EXPECT_FALSE(present(*policy, pool, {.tenant = 999'000, .prompt_tokens = 1}).admitted());
  EXPECT_TRUE(present(*policy, pool, {.tenant = 998'999, .prompt_tokens = 1}).admitted());
}

}  // namespace
}  // namespace inferscale
