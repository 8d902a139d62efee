// A serial station with a host tier, by hand.
//
// The numbers are those of station_test_support.h. A token is 1000 bytes and the link takes 4 bytes
// a nanosecond and 500 ns beside: moving n tokens takes 500 + 250 n ns.

#include "replica/serial/station_test_support.h"

namespace inferscale {
namespace {

class SerialOffloadTest : public SerialStationTest {
 protected:
  SerialOffloadTest() {
    options_.retention = KvRetentionOptions{.idle = IdleKv::kOffload,
                                            .host = {.capacity_bytes = 100'000,
                                                     .base_latency = Duration::nanos(500),
                                                     .bytes_per_ns = 4},
                                            .kv_bytes_per_token = 1000};
  }
};

// Turn 0 ends at 4000 and leaves 12 tokens: they move for 3500, until 7500.

TEST_F(SerialOffloadTest, AMoveThatEndsWithinTheGapCostsOnlyTheRestore) {
  run({{.calls = {{10, 3, 6'000}, {7, 1}}}});
  // 3500 to restore, then 8 tokens: 1800.
  EXPECT_EQ(of(0, 1).start.ns(), 10'000);
  EXPECT_EQ(of(0, 1).cached_tokens, 12U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 10'000 + 3'500 + 1'800);
  EXPECT_EQ(replica_->usage().busy_ns, 4'000 + 5'300);
  EXPECT_EQ(usage().offloads, 1);
  EXPECT_EQ(usage().restores, 1);
  EXPECT_EQ(usage().offloaded, 12);
  EXPECT_EQ(usage().restored, 12);
  EXPECT_EQ(usage().offload_ns, 3'500);
  EXPECT_EQ(usage().restore_ns, 3'500);
  EXPECT_EQ(usage().exposed_ns, 0);
  // HBM: idle while it moves; 12 held for 4000, 20 from the start of turn 1. Host: until then.
  EXPECT_EQ(usage().idle_token_ns, 12 * 3'500);
  EXPECT_EQ(usage().resident_token_ns, 12 * 3'500 + 12 * 4'000 + 20 * 5'300);
  EXPECT_EQ(usage().host_token_ns, 12 * 6'000);
  EXPECT_EQ(usage().host_peak, 12);
}

TEST_F(SerialOffloadTest, WhatIsLeftOfAMoveIsWaitedForBeforeTheRestore) {
  run({{.calls = {{10, 3, 1'000}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).start.ns(), 5'000);
  EXPECT_EQ(of(0, 1).first_token.ns(), 5'000 + 2'500 + 3'500 + 1'800);
  EXPECT_EQ(usage().exposed_ns, 2'500);
  // From its start the call holds 20 tokens, those that still move among them.
  EXPECT_EQ(usage().idle_token_ns, 12 * 1'000);
  EXPECT_EQ(usage().resident_token_ns, 12 * 1'000 + 12 * 4'000 + 20 * 7'800);
  EXPECT_EQ(usage().host_token_ns, 12 * 1'000);
}

TEST_F(SerialOffloadTest, OneProgramUnderThreeRules) {
  const std::vector<PlannedChain> program{{.calls = {{10, 3, 6'000}, {7, 1}}}};
  std::int64_t ttft[3];
  double idle[3];
  for (const IdleKv rule : {IdleKv::kRetain, IdleKv::kRecompute, IdleKv::kOffload}) {
    options_.retention->idle = rule;
    run(program);
    ttft[static_cast<int>(rule)] = of(0, 1).ttft().ns();
    idle[static_cast<int>(rule)] = usage().idle_token_ns;
  }
  EXPECT_EQ(ttft[0], 1'800);  // 8 tokens
  EXPECT_EQ(ttft[1], 3'000);  // 20 tokens
  EXPECT_EQ(ttft[2], 5'300);  // a restore and 8 tokens
  EXPECT_EQ(idle[0], 12 * 6'000);
  EXPECT_EQ(idle[1], 0);
  EXPECT_EQ(idle[2], 12 * 3'500);
}

TEST_F(SerialOffloadTest, AFullTierDropsTheOneOffloadedLongestAgo) {
  options_.retention->host.capacity_bytes = 16'000;
  // Session 1 ends at 6800 and leaves 8 tokens: 12 + 8 > 16, so session 0's are dropped. It
  // computes its 20 tokens again at 10000; session 1's turn at 20000 restores 8 in 2500 and
  // computes 4.
  run({{.calls = {{10, 3, 6'000}, {7, 1}}},
       {.begin_ns = 5'000, .calls = {{8, 1, 13'200}, {3, 1}}}});
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 10'000 + 3'000);
  EXPECT_EQ(of(1, 1).cached_tokens, 8U);
  EXPECT_EQ(of(1, 1).first_token.ns(), 20'000 + 2'500 + 1'400);
  EXPECT_EQ(usage().host_evicted, 12);
  EXPECT_EQ(usage().host_token_ns, 12 * 2'800 + 8 * 13'200);
  EXPECT_EQ(usage().idle_token_ns, 12 * 3'500 + 8 * 2'500) << "the move goes on to its end";
}

TEST_F(SerialOffloadTest, WhatIsLargerThanTheTierIsLostAtOnce) {
  options_.retention->host.capacity_bytes = 11'999;
  run({{.calls = {{10, 3, 6'000}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).first_token.ns(), 10'000 + 3'000);
  EXPECT_EQ(usage().host_evicted, 12);
  EXPECT_EQ(usage().offloads, 0);
  EXPECT_EQ(usage().idle_token_ns, 0);
}

TEST_F(SerialOffloadTest, ACallThatDoesNotFitBesideAMoveWaitsForItsEnd) {
  // Session 0 leaves 24 tokens at 3400; they move for 6500, until 9900. Session 1 needs 16: it fits
  // beside them and is served from 4000 to 6600. Session 2 needs 20 and waits, and so does session
  // 3 behind it, though it would fit.
  run({{.calls = {{24, 1, 40'000}, {1, 1}}},
       {.begin_ns = 4'000, .calls = {{16, 1}}},
       {.begin_ns = 7'000, .calls = {{20, 1}}},
       {.begin_ns = 7'500, .calls = {{4, 1}}}});
  EXPECT_EQ(of(1, 0).start.ns(), 4'000);
  EXPECT_EQ(of(2, 0).start.ns(), 9'900);
  EXPECT_EQ(of(3, 0).start.ns(), 12'900);
  EXPECT_EQ(usage().evicted_pressure, 0);
  EXPECT_EQ(usage().exposed_ns, 0) << "it is not its own move";
  EXPECT_EQ(of(0, 1).cached_tokens, 24U);
}

TEST_F(SerialOffloadTest, ACallsOwnMoveIsNotInItsWay) {
  run({{.calls = {{24, 1, 500}, {15, 1}}}});
  // It ends at 3400 and moves until 9900; the turn starts at 3900 and holds all 40.
  EXPECT_EQ(of(0, 1).start.ns(), 3'900);
  EXPECT_EQ(of(0, 1).first_token.ns(), 9'900 + 6'500 + 2'600);
  EXPECT_EQ(usage().resident_peak, 40);
}

TEST_F(SerialOffloadTest, AnEntryThatIsOfNoUseIsNotRestored) {
  // Of its 11 tokens of history turn 1 keeps 3: less than a block.
  run({{.calls = {{10, 1, 6'000}, {7, 1, 0, 8}}}});
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(of(0, 1).ttft().ns(), 2'000);
  EXPECT_EQ(usage().restores, 0);
  EXPECT_EQ(usage().host_token_ns, 8 * 6'000);
}

TEST_F(SerialOffloadTest, OnlyWhatIsOfUseIsMovedBack) {
  // Of its 13 tokens of history turn 1 keeps 9: 8 tokens in whole blocks, restored in 2500.
  run({{.calls = {{10, 3, 6'000}, {7, 1, 0, 4}}}});
  EXPECT_EQ(of(0, 1).cached_tokens, 8U);
  EXPECT_EQ(of(0, 1).ttft().ns(), 2'500 + 1'800);
  EXPECT_EQ(usage().offloaded, 12);
  EXPECT_EQ(usage().restored, 8);
}

TEST_F(SerialOffloadTest, AFailureLosesHostMemoryToo) {
  plan({{.calls = {{10, 3}, {7, 1}}}});
  enqueue(0, 0);
  wake_to_the_end();
  replica_->fail(Instant::nanos(5'000));
  enqueue(0, 1, 10'000);
  wake_to_the_end();
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().restores, 0);
  EXPECT_EQ(usage().idle_token_ns, 12 * 1'000);
  EXPECT_EQ(usage().host_token_ns, 12 * 1'000);
}

TEST_F(SerialOffloadTest, AnEndedChainLeavesNothingInHostMemory) {
  run({{.calls = {{10, 3}}}});
  EXPECT_EQ(usage().offloads, 0);
  EXPECT_EQ(usage().dropped_ended, 12);

  plan({{.calls = {{10, 3}, {1, 1}}}});
  enqueue(0, 0);
  wake_to_the_end();
  replica_->end_chain(plan_->request(0, 1), Instant::nanos(5'000));
  replica_->settle(Instant::nanos(90'000));
  EXPECT_EQ(usage().host_token_ns, 12 * 1'000);
  EXPECT_EQ(usage().idle_token_ns, 12 * 1'000) << "the move is broken off";
  EXPECT_EQ(usage().dropped_ended, 12);
}

}  // namespace
}  // namespace inferscale
