#include "admission/policies/queue_depth.h"

#include <gtest/gtest.h>

#include "admission/policy_test_support.h"

namespace inferscale {
namespace {

Decision at_depth(const WrittenParameters& parameters, double waiting, FakePool& pool) {
  const auto policy = make_policy_for_test("queue_depth", parameters);
  pool.set_declared(policy->needs().signals);
  pool.set(Signal::kQueueDepth, waiting);
  return policy->decide({}, pool);
}

TEST(QueueDepth, RefusesWhenMoreThanTheLimitWaitAndNotBefore) {
  FakePool pool;
  EXPECT_TRUE(at_depth({}, 8, pool).admitted());
  const Decision refused = at_depth({}, 9, pool);
  EXPECT_EQ(refused.verdict, Verdict::kReject);
  EXPECT_EQ(refused.reason, Reason::kQueueDepth);
}

TEST(QueueDepth, ZeroMayWait) {
  FakePool pool;
  EXPECT_TRUE(at_depth({{"max_waiting", "0"}}, 0, pool).admitted());
  EXPECT_FALSE(at_depth({{"max_waiting", "0"}}, 1, pool).admitted());
}

TEST(QueueDepth, DefersWithoutAWaitOfItsOwn) {
  FakePool pool;
  const Decision refused = at_depth({{"max_waiting", "2"}, {"then", "defer"}}, 3, pool);
  EXPECT_EQ(refused.verdict, Verdict::kDefer);
  EXPECT_EQ(refused.reason, Reason::kQueueDepth);
  EXPECT_FALSE(refused.retry_after.has_value());
}

TEST(QueueDepth, OfEachReplicaItIsTheirMean) {
  FakePool pool;
  for (std::uint32_t replica = 0; replica < 4; ++replica) {
    pool.set_replica(replica, Signal::kQueueDepth, 8);
  }
  EXPECT_TRUE(at_depth({{"each", "replica"}}, 32, pool).admitted());
  EXPECT_FALSE(at_depth({{"each", "replica"}}, 33, pool).admitted());
  EXPECT_FALSE(at_depth({{"each", "pool"}}, 32, pool).admitted());
}

TEST(QueueDepth, AMisspeltParameterIsAnErrorThatNamesIt) {
  const auto read = read_policy_for_test("queue_depth", {{"max_wait", "4"}});
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().message.find("max_wait"), std::string::npos) << read.error().message;
  EXPECT_FALSE(read_policy_for_test("queue_depth", {{"max_waiting", "-1"}}).has_value());
  EXPECT_FALSE(read_policy_for_test("queue_depth", {{"then", "drop"}}).has_value());
}

}  // namespace
}  // namespace inferscale
