#include "admission/policies/kv_threshold.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

Decision at_use(const WrittenParameters& parameters, double used) {
  const auto policy = make_policy_for_test("kv_threshold", parameters);
  FakePool pool(policy->needs().signals);
  pool.set(Signal::kKvUsedFraction, used);
  return policy->decide({}, pool);
}

TEST(KvThreshold, RefusesFromTheThresholdOn) {
  EXPECT_TRUE(at_use({}, 0.899).admitted());
  const Decision refused = at_use({}, 0.9);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kKvPressure);
}

TEST(KvThreshold, CanDefer) {
  EXPECT_EQ(at_use({{"threshold", "0.5"}, {"then", "defer"}}, 0.7).verdict, Verdict::kDefer);
}

TEST(KvThreshold, APercentageIsRefused) {
  EXPECT_FALSE(read_policy_for_test("kv_threshold", {{"threshold", "90"}}).has_value());
  EXPECT_FALSE(read_policy_for_test("kv_threshold", {{"threshold", "0"}}).has_value());
}

}  // namespace
}  // namespace inferscale
