#include "admission/policies/reject_all.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

TEST(RejectAll, TheDoorIsClosedToEverybody) {
  const auto policy = make_policy_for_test("reject_all");
  const FakePool pool;  // stops whoever reads a signal
  const Decision decision = policy->decide({.prompt_tokens = 1, .priority = 9}, pool);
  EXPECT_EQ(decision.verdict, Verdict::kReject);
  EXPECT_EQ(decision.reason, Reason::kClosed);
}

TEST(RejectAll, HasNoParameters) {
  EXPECT_FALSE(read_policy_for_test("reject_all", {{"then", "defer"}}).has_value());
}

}  // namespace
}  // namespace inferscale
