#include "admission/policies/rate_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "admission/policy_test_support.h"
#include "base/random.h"

namespace inferscale {
namespace {

// Presents an attempt, and tells the policy when it was admitted.
Decision present(AdmissionPolicy& policy, FakePool& pool, const RequestView& request) {
  const Decision decision = policy.decide(request, pool);
  if (decision.admitted()) policy.on_admit(request, pool.now());
  return decision;
}

Decision present_at(AdmissionPolicy& policy, double seconds, CallerKey tenant = 1) {
  FakePool pool;
  pool.set_now(seconds);
  return present(policy, pool, {.tenant = tenant});
}

TEST(RateLimit, AnAdmissionCountsForExactlyTheWindow) {
  const auto policy = make_policy_for_test("rate_limit", {{"requests", "2"}, {"window_s", "60"}});
  EXPECT_TRUE(present_at(*policy, 100).admitted());
  EXPECT_TRUE(present_at(*policy, 110).admitted());
  const Decision refused = present_at(*policy, 159.999999999);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kRateLimit);
  EXPECT_TRUE(present_at(*policy, 160).admitted());
  EXPECT_FALSE(present_at(*policy, 169).admitted());
  EXPECT_TRUE(present_at(*policy, 170).admitted());
}

TEST(RateLimit, F18TwiceTheLimitNeverPassesAroundTheTurnOfAMinute) {
  const auto policy = make_policy_for_test("rate_limit", {{"requests", "10"}, {"window_s", "60"}});
  int sliding = 0;
  int tumbling = 0;
  std::map<std::int64_t, int> by_minute;
  for (int i = 0; i < 20; ++i) {  // ten just before the minute is over, ten just after
    const double at = i < 10 ? 59.0 + 0.1 * i : 60.0 + 0.1 * (i - 10);
    if (present_at(*policy, at).admitted()) ++sliding;
    if (by_minute[static_cast<std::int64_t>(at / 60)]++ < 10) ++tumbling;
  }
  EXPECT_EQ(tumbling, 20);
  EXPECT_EQ(sliding, 10);
}

// Random arrivals, some at the same instant, against a count over everything that was admitted.
TEST(RateLimit, AgreesWithACountOverAllAdmissions) {
  for (const std::int64_t limit : {1, 3, 17, 40}) {
    const auto policy = make_policy_for_test(
        "rate_limit", {{"requests", std::to_string(limit)}, {"window_s", "2"}});
    RandomStream random(static_cast<std::uint64_t>(limit), "arrivals");
    std::map<CallerKey, std::vector<Instant>> admitted;
    FakePool pool;
    double now = 0;
    for (int i = 0; i < 20'000; ++i) {
      const double pace = i / 300 % 2 == 0 ? 0.2 : 0.02;  // calm and busy spells
      if (random.below(4) != 0) now += pace * random.uniform();
      pool.set_now(now);
      const CallerKey tenant = random.below(3);
      std::vector<Instant>& of_tenant = admitted[tenant];
      const Instant from = pool.now() - Duration::from_seconds(2);
      const auto recent = std::count_if(of_tenant.begin(), of_tenant.end(),
                                        [&](Instant instant) { return instant > from; });
      const bool expected = recent < limit;
      ASSERT_EQ(present(*policy, pool, {.tenant = tenant}).admitted(), expected)
          << "limit " << limit << ", arrival " << i;
      if (expected) of_tenant.push_back(pool.now());
      std::erase_if(of_tenant, [&](Instant instant) { return instant <= from; });
    }
  }
}

TEST(RateLimit, ADeferSaysWhenThereIsRoomAgain) {
  const auto policy = make_policy_for_test(
      "rate_limit", {{"requests", "2"}, {"window_s", "10"}, {"then", "defer"}});
  EXPECT_TRUE(present_at(*policy, 1).admitted());
  EXPECT_TRUE(present_at(*policy, 4).admitted());
  const Decision deferred = present_at(*policy, 5);
  EXPECT_EQ(deferred.verdict, Verdict::kDefer);
  ASSERT_TRUE(deferred.retry_after.has_value());
  EXPECT_EQ(*deferred.retry_after, Duration::from_seconds(6));
  EXPECT_FALSE(present_at(*policy, 10.999999999).admitted());
  EXPECT_TRUE(present_at(*policy, 11).admitted());
}

TEST(RateLimit, OnlyWhatWasAdmittedCounts) {
  const auto policy = make_policy_for_test("rate_limit", {{"requests", "1"}});
  FakePool pool;
  for (int i = 0; i < 5; ++i) {  // decided about, but something else kept it out
    EXPECT_TRUE(policy->decide({.tenant = 1}, pool).admitted());
  }
  EXPECT_TRUE(present_at(*policy, 0).admitted());
  for (int i = 1; i < 60; ++i) EXPECT_FALSE(present_at(*policy, i).admitted());
  EXPECT_TRUE(present_at(*policy, 60).admitted());
}

TEST(RateLimit, CallersAreCountedAsConfigured) {
  const RequestView first = {.tenant = 1, .session = 10};
  const RequestView second = {.tenant = 1, .session = 11};
  const RequestView third = {.tenant = 2, .session = 10};
  const auto answers = [&](const char* per) {
    const auto policy = make_policy_for_test("rate_limit", {{"requests", "1"}, {"per", per}});
    FakePool pool;
    std::vector<bool> admitted;
    for (const RequestView& request : {first, second, third}) {
      admitted.push_back(present(*policy, pool, request).admitted());
    }
    return admitted;
  };
  EXPECT_EQ(answers("pool"), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(answers("tenant"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(answers("session"), (std::vector<bool>{true, true, false}));
}

TEST(RateLimit, OfAMillionTenantsOnlyTheLatestAreRemembered) {
  const auto policy =
      make_policy_for_test("rate_limit", {{"requests", "1"}, {"most_callers", "1000"}});
  FakePool pool;
  for (CallerKey tenant = 0; tenant < 1'000'000; ++tenant) {
    ASSERT_TRUE(present(*policy, pool, {.tenant = tenant}).admitted());
  }
  EXPECT_FALSE(present(*policy, pool, {.tenant = 999'999}).admitted());
  EXPECT_FALSE(present(*policy, pool, {.tenant = 999'000}).admitted());
  EXPECT_TRUE(present(*policy, pool, {.tenant = 998'999}).admitted());
}

}  // namespace
}  // namespace inferscale
