// The host tier by hand. A token is 2000 bytes, the link takes 8 bytes a nanosecond and 100 ns
// beside: n tokens take 100 + 250 n ns. The tier holds 8000 bytes: four tokens.

#include "replica/host_tier.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

class HostTierTest : public testing::Test {
 protected:
  static Instant at(std::int64_t ns) { return Instant::nanos(ns); }

  KvRetentionUsage usage_;
  HostTier tier_{{.capacity_bytes = 8000, .base_latency = Duration::nanos(100), .bytes_per_ns = 8},
                 2000,
                 usage_};
};

TEST_F(HostTierTest, ATransferTakesItsLatencyAndItsBytesOverTheBandwidth) {
  EXPECT_EQ(tier_.transfer_time(1).ns(), 350);
  EXPECT_EQ(tier_.transfer_time(3).ns(), 850);
  // 2 x 1 byte over 3 bytes a nanosecond: 0.67 ns, rounded to 1.
  const HostTier odd({.capacity_bytes = 1, .bytes_per_ns = 3}, 1, usage_);
  EXPECT_EQ(odd.transfer_time(2).ns(), 1);
  EXPECT_EQ(odd.transfer_time(1).ns(), 0);
}

TEST_F(HostTierTest, AMoveOutIsDoneAfterItsTransferTime) {
  EXPECT_EQ(tier_.offload(7, 3, at(1000)), at(1850));
  const std::optional<HostTier::Entry> entry = tier_.find(7);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->tokens, 3);
  EXPECT_EQ(entry->done, at(1850));
  EXPECT_FALSE(tier_.find(8).has_value());
  EXPECT_EQ(usage_.offloads, 1);
  EXPECT_EQ(usage_.offloaded, 3);
  EXPECT_EQ(usage_.offload_ns, 850);
}

TEST_F(HostTierTest, ARestoreTakesTheEntryOutAtOnce) {
  tier_.offload(7, 3, at(1000));
  EXPECT_EQ(tier_.restore(7, 3, at(5000)).ns(), 850);
  EXPECT_FALSE(tier_.find(7).has_value());
  EXPECT_EQ(tier_.tokens(), 0);
  EXPECT_EQ(usage_.restores, 1);
  EXPECT_EQ(usage_.restored, 3);
  EXPECT_EQ(usage_.restore_ns, 850);
  // Three tokens for 4000 ns.
  tier_.settle(at(9000));
  EXPECT_EQ(usage_.host_token_ns, 12'000);
}

TEST_F(HostTierTest, OnlyWhatIsOfUseIsMovedBack) {
  tier_.offload(7, 3, at(1000));
  EXPECT_EQ(tier_.restore(7, 2, at(5000)).ns(), 600);
  EXPECT_EQ(usage_.restored, 2);
  EXPECT_EQ(tier_.tokens(), 0);
}

TEST_F(HostTierTest, TheOneOffloadedLongestAgoMakesRoom) {
  tier_.offload(1, 2, at(0));
  tier_.offload(2, 2, at(10));  // full
  tier_.offload(3, 1, at(20));  // chain 1 goes
  EXPECT_FALSE(tier_.find(1).has_value());
  EXPECT_TRUE(tier_.find(2).has_value());
  EXPECT_TRUE(tier_.find(3).has_value());
  EXPECT_EQ(usage_.host_evicted, 2);
  EXPECT_EQ(usage_.host_peak, 4);
  tier_.offload(4, 4, at(30));  // both others go
  EXPECT_EQ(tier_.tokens(), 4);
  EXPECT_EQ(usage_.host_evicted, 5);
  // 2 tokens for 10 ns, 4 for 10, 3 for 10, 4 for 10.
  tier_.settle(at(40));
  EXPECT_EQ(usage_.host_token_ns, 130);
}

TEST_F(HostTierTest, WhatIsLargerThanTheTierIsNotTaken) {
  tier_.offload(1, 2, at(0));
  EXPECT_EQ(tier_.offload(2, 5, at(10)), std::nullopt);
  EXPECT_FALSE(tier_.find(2).has_value());
  EXPECT_TRUE(tier_.find(1).has_value()) << "nobody leaves for what cannot come";
  EXPECT_EQ(usage_.host_evicted, 5);
  EXPECT_EQ(usage_.offloads, 1);
}

TEST_F(HostTierTest, AChainsNewEntryTakesThePlaceOfItsOldOne) {
  tier_.offload(1, 2, at(0));
  tier_.offload(2, 1, at(10));
  EXPECT_EQ(tier_.offload(1, 3, at(20)), at(20 + 850));
  EXPECT_EQ(tier_.tokens(), 4);
  EXPECT_EQ(usage_.host_evicted, 0);
  // The renewed one is the latest now: chain 2 is the first to go.
  tier_.offload(3, 1, at(30));
  EXPECT_FALSE(tier_.find(2).has_value());
  EXPECT_TRUE(tier_.find(1).has_value());
}

TEST_F(HostTierTest, WhatIsDroppedIsNeitherEvictedNorRestored) {
  tier_.offload(1, 2, at(0));
  tier_.drop(1, at(100));
  tier_.drop(9, at(100));
  EXPECT_EQ(tier_.tokens(), 0);
  tier_.offload(2, 3, at(100));
  tier_.clear(at(200));
  EXPECT_FALSE(tier_.find(2).has_value());
  EXPECT_EQ(usage_.host_evicted, 0);
  EXPECT_EQ(usage_.restored, 0);
  tier_.settle(at(1000));
  EXPECT_EQ(usage_.host_token_ns, 2 * 100 + 3 * 100);
}

}  // namespace
}  // namespace inferscale
