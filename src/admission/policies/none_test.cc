#include "admission/policies/none.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

TEST(None, AdmitsEverybodyAndReadsNothing) {
  const auto policy = make_policy_for_test("none");
  const FakePool pool;  // stops whoever reads a signal
  EXPECT_TRUE(policy->needs().signals.is_empty());
  EXPECT_TRUE(policy->decide({.prompt_tokens = 1'000'000, .priority = -5}, pool).admitted());
}

TEST(None, HasNoParameters) {
  EXPECT_FALSE(read_policy_for_test("none", {{"limit", "3"}}).has_value());
}

}  // namespace
}  // namespace inferscale
