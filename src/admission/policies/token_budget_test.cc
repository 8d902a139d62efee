#include "admission/policies/token_budget.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

// 1,200 tokens: two answers of 100.
const RequestView kRequest = {
    .sequences = 2, .prompt_tokens = 1'000, .predicted_output_tokens = 100};

Decision with_in_flight(AdmissionPolicy& policy, double tokens, FakePool& pool,
                        const RequestView& request = kRequest) {
  pool.set_declared(policy.needs().signals);
  pool.set(Signal::kTokensInFlight, tokens);
  return policy.decide(request, pool);
}

TEST(TokenBudget, PromptAndPredictedOutputMustFit) {
  const auto policy = make_policy_for_test("token_budget", {{"budget", "10000"}});
  FakePool pool;
  EXPECT_TRUE(with_in_flight(*policy, 8'800, pool).admitted());
  const Decision refused = with_in_flight(*policy, 8'801, pool);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kTokenBudget);
}

TEST(TokenBudget, WithoutABudgetItIsAShareOfTheKvCapacity) {
  const auto policy = make_policy_for_test("token_budget", {{"share", "0.5"}});
  EXPECT_TRUE(policy->needs().service_model);
  FakePool pool;
  pool.service_model().kv_capacity_tokens = 5'000;
  pool.service_model().replicas = 4;  // half of 20,000
  EXPECT_TRUE(with_in_flight(*policy, 8'800, pool).admitted());
  EXPECT_FALSE(with_in_flight(*policy, 8'801, pool).admitted());
}

TEST(TokenBudget, ACapacityThatNobodyKnowsIsNotZero) {
  const auto policy = make_policy_for_test("token_budget");
  FakePool pool;
  EXPECT_TRUE(with_in_flight(*policy, 1e9, pool).admitted());
}

TEST(TokenBudget, WhatCanNeverFitIsNotDeferred) {
  const auto policy =
      make_policy_for_test("token_budget", {{"budget", "10000"}, {"then", "defer"}});
  FakePool pool;
  EXPECT_EQ(with_in_flight(*policy, 9'000, pool).verdict, Verdict::kDefer);
  EXPECT_EQ(with_in_flight(*policy, 0, pool, {.prompt_tokens = 10'001}).verdict, Verdict::kReject);
  EXPECT_TRUE(with_in_flight(*policy, 0, pool, {.prompt_tokens = 10'000}).admitted());
}

// A setting that nothing would read is an error.
TEST(TokenBudget, D4AShareBesideABudgetIsRefused) {
  EXPECT_FALSE(
      read_policy_for_test("token_budget", {{"budget", "10000"}, {"share", "0.5"}}).has_value());
}

}  // namespace
}  // namespace inferscale
