#include "admission/policies/dual_gate.h"

#include <gtest/gtest.h>

#include <optional>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

Decision at(const WrittenParameters& parameters, std::optional<double> used,
            std::optional<double> hits) {
  const auto policy = make_policy_for_test("dual_gate", parameters);
  FakePool pool(policy->needs().signals);
  if (used) pool.set(Signal::kKvUsedFraction, *used);
  if (hits) pool.set(Signal::kPrefixHitRate, *hits);
  return policy->decide({}, pool);
}

const WrittenParameters kHalf = {{"threshold", "0.9"}, {"min_hit_rate", "0.5"}};

TEST(DualGate, RefusesOnlyAFullCacheThatIsOfNoUse) {
  EXPECT_TRUE(at(kHalf, 0.89, 0.1).admitted());
  EXPECT_TRUE(at(kHalf, 0.89, 0.9).admitted());
  EXPECT_TRUE(at(kHalf, 0.95, 0.5).admitted());
  const Decision refused = at(kHalf, 0.9, 0.49);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kKvPressure);
}

TEST(DualGate, EitherSignalMissingRefusesNobody) {
  EXPECT_TRUE(at(kHalf, 0.99, std::nullopt).admitted());
  EXPECT_TRUE(at(kHalf, std::nullopt, 0.0).admitted());
}

// One that was built without min_hit_rate used to fault just when the cache was full, and let
// everybody in.
TEST(DualGate, F6BuiltWithoutParametersItActsWhenTheCacheIsFull) {
  EXPECT_FALSE(at({}, 0.95, 0.1).admitted());
  EXPECT_TRUE(at({}, 0.95, 0.2).admitted());
  EXPECT_FALSE(at({{"threshold", "0.8"}}, 0.8, 0.1).admitted());
}

}  // namespace
}  // namespace inferscale
