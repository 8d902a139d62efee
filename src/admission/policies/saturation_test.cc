#include "admission/policies/saturation.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

class SaturationTest : public testing::Test {
 protected:
  SaturationTest() { pool_.set_declared(policy_->needs().signals); }

  void set(std::uint32_t replica, double queue, double used) {
    pool_.set_replica(replica, Signal::kQueueDepth, queue);
    pool_.set_replica(replica, Signal::kKvUsedFraction, used);
  }
  Decision decide(std::int32_t priority) { return policy_->decide({.priority = priority}, pool_); }

  std::unique_ptr<AdmissionPolicy> policy_ = make_policy_for_test("saturation");
  FakePool pool_;
};

TEST_F(SaturationTest, IsTheMeanOverReplicasOfTheGreaterPart) {
  set(0, 5, 0.4);   // max(1, 0.5) = 1
  set(1, 2, 0.72);  // max(0.4, 0.9) = 0.9: 0.95 in the mean
  EXPECT_TRUE(decide(-1).admitted());
  set(1, 2, 0.8);  // max(0.4, 1) = 1: 1 in the mean
  const Decision shed = decide(-1);
  EXPECT_EQ(shed.verdict, Verdict::kReject);
  EXPECT_EQ(shed.reason, Reason::kSaturated);
  set(0, 0, 0.2);   // 0.25
  set(1, 8, 0.99);  // max(1.6, 1.2375) = 1.6: 0.925 in the mean
  EXPECT_TRUE(decide(-1).admitted());
  set(1, 9, 0.99);  // 1.8: 1.025 in the mean
  EXPECT_FALSE(decide(-1).admitted());
}

TEST_F(SaturationTest, ShedsNegativePrioritiesOnly) {
  set(0, 500, 1);
  for (const std::int32_t kept : {4, 3, 0}) EXPECT_TRUE(decide(kept).admitted()) << kept;
  for (const std::int32_t shed : {-1, -2, -3}) EXPECT_FALSE(decide(shed).admitted()) << shed;
}

TEST_F(SaturationTest, AReplicaThatNobodyKnowsCountsAsSaturated) {
  pool_.set_replica(0, Signal::kQueueDepth, 0);  // its KV cache is unknown: 1
  set(1, 4.5, 0.1);                              // 0.9: 0.95 in the mean
  EXPECT_TRUE(decide(-1).admitted());
  set(1, 5, 0.1);  // 1
  EXPECT_FALSE(decide(-1).admitted());
}

TEST_F(SaturationTest, APoolWithoutReplicasIsSaturated) {
  EXPECT_FALSE(decide(-1).admitted());
  EXPECT_TRUE(decide(0).admitted());
}

TEST(Saturation, ItsThresholdsCanBeSet) {
  const auto policy = make_policy_for_test(
      "saturation",
      {{"queue_threshold", "10"}, {"kv_threshold", "0.5"}, {"shed_below_priority", "3"}});
  FakePool pool(policy->needs().signals);
  pool.set_replica(0, Signal::kQueueDepth, 9);
  pool.set_replica(0, Signal::kKvUsedFraction, 0.4);
  EXPECT_TRUE(policy->decide({.priority = 2}, pool).admitted());
  pool.set_replica(0, Signal::kKvUsedFraction, 0.5);
  EXPECT_FALSE(policy->decide({.priority = 2}, pool).admitted());
  EXPECT_TRUE(policy->decide({.priority = 3}, pool).admitted());
}

}  // namespace
}  // namespace inferscale
