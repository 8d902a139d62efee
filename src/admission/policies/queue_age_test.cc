#include "admission/policies/queue_age.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

Decision at_age(const WrittenParameters& parameters, double age_s) {
  const auto policy = make_policy_for_test("queue_age", parameters);
  FakePool pool(policy->needs().signals);
  pool.set(Signal::kQueueAgeS, age_s);
  return policy->decide({}, pool);
}

TEST(QueueAge, RefusesAboveTheAge) {
  EXPECT_TRUE(at_age({{"max_age_s", "2.5"}}, 2.5).admitted());
  const Decision refused = at_age({{"max_age_s", "2.5"}}, 2.51);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kQueueAge);
}

TEST(QueueAge, CanDefer) {
  EXPECT_EQ(at_age({{"then", "defer"}}, 60).verdict, Verdict::kDefer);
}

}  // namespace
}  // namespace inferscale
