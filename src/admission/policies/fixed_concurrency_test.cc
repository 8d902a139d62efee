#include "admission/policies/fixed_concurrency.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

struct Case {
  const char* per;
  Signal signal;
  Reason reason;
};

TEST(FixedConcurrency, CountsWhatItIsOfAndReadsNothingElse) {
  for (const Case& c : {Case{"pool", Signal::kInFlight, Reason::kConcurrency},
                        Case{"tenant", Signal::kTenantInFlight, Reason::kTenantShare},
                        Case{"session", Signal::kSessionInFlight, Reason::kSessionInFlight}}) {
    const auto policy = make_policy_for_test("fixed_concurrency", {{"limit", "3"}, {"per", c.per}});
    FakePool pool(SignalSet{c.signal});  // stops whoever reads another one
    pool.set(c.signal, 2);
    EXPECT_TRUE(policy->decide({}, pool).admitted()) << c.per;
    pool.set(c.signal, 3);
    const Decision refused = policy->decide({}, pool);
    EXPECT_EQ(refused.verdict, Verdict::kReject) << c.per;
    EXPECT_EQ(refused.reason, c.reason) << c.per;
  }
}

TEST(FixedConcurrency, NeedsToKnowWhoseRequestsItCounts) {
  const auto of_tenant = make_policy_for_test("fixed_concurrency", {{"per", "tenant"}});
  EXPECT_TRUE(of_tenant->needs().request.tenant);
  EXPECT_FALSE(of_tenant->needs().request.session);
  const auto of_session = make_policy_for_test("fixed_concurrency", {{"per", "session"}});
  EXPECT_TRUE(of_session->needs().request.session);
  EXPECT_FALSE(make_policy_for_test("fixed_concurrency")->needs().request.tenant);
}

TEST(FixedConcurrency, ShowsTheLimitOfThePool) {
  EXPECT_EQ(make_policy_for_test("fixed_concurrency", {{"limit", "7"}})->limit(), 7);
  EXPECT_EQ(make_policy_for_test("fixed_concurrency", {{"per", "tenant"}})->limit(), std::nullopt);
}

}  // namespace
}  // namespace inferscale
