// The serial station by hand, a test for each rule of docs/serial_station.md. Its numbers are those
// of station_test_support.h; calls are {appended, output, gap, cut}.

#include "replica/serial/serial_replica.h"

#include <gtest/gtest.h>

#include "replica/serial/station_test_support.h"

namespace inferscale {
namespace {

class SerialReplicaTest : public SerialStationTest {};

// --- one call, and who is next

TEST_F(SerialReplicaTest, ACallTakesItsPrefillAndADecodeStepForEachFurtherToken) {
  run({{.begin_ns = 500, .calls = {{10, 3}}}});
  // 1000 + 10 x 100 = 2000 to the first token, then 2 x 1000.
  EXPECT_EQ(of(0, 0).start.ns(), 500);
  EXPECT_EQ(of(0, 0).first_token.ns(), 2'500);
  EXPECT_EQ(of(0, 0).finish.ns(), 4'500);
  EXPECT_EQ(of(0, 0).itl_max.ns(), 1'000);
  const ReplicaUsage& usage = replica_->usage();
  EXPECT_EQ(usage.busy_ns, 4'000);
  EXPECT_EQ(usage.prefill_steps, 1);
  EXPECT_EQ(usage.decode_steps, 2);
  // 12 tokens are written: 3 blocks, from the start to the end.
  EXPECT_EQ(usage.kv_block_ns, 3 * 4'000);
  EXPECT_EQ(usage.kv_blocks_peak, 3);
}

TEST_F(SerialReplicaTest, DecodeStepsGrowWithTheContext) {
  latency_ = make_linear({.step_us = 1, .decode_ns_per_context_token = 10}, {});
  run({{.calls = {{10, 4}}}});
  // Contexts 11, 12, 13: 1110, 1120, 1130.
  EXPECT_EQ(of(0, 0).first_token.ns(), 1'000);
  EXPECT_EQ(of(0, 0).finish.ns(), 1'000 + 1'110 + 1'120 + 1'130);
  EXPECT_EQ(of(0, 0).itl_max.ns(), 1'130);
  EXPECT_EQ(gaps_.total(), 3);
}

TEST_F(SerialReplicaTest, CallsAreServedByArrivalAndThenById) {
  options_.itl_limit = Duration::nanos(999);
  run({{.begin_ns = 10, .calls = {{10, 2}}},
       {.begin_ns = 5, .calls = {{10, 1}}},
       {.begin_ns = 10, .calls = {{10, 1}}}});
  EXPECT_EQ(of(1, 0).start.ns(), 5);
  EXPECT_EQ(of(0, 0).start.ns(), 2'005);
  EXPECT_EQ(of(0, 0).gaps_over_limit, 1U);
  EXPECT_EQ(of(2, 0).start.ns(), 5'005);
  EXPECT_EQ(of(2, 0).gaps_over_limit, 0U);
  EXPECT_EQ(replica_->usage().queue_peak, 2);
  EXPECT_EQ(replica_->usage().running_peak, 1);
}

// --- reuse across turns, and what it occupies meanwhile

TEST_F(SerialReplicaTest, ALaterTurnComputesOnlyWhatIsNotInItsChainsEntry) {
  run({{.calls = {{10, 3, 6'000}, {7, 1}}}});
  // Turn 0 ends at 4000 with 12 tokens written: 3 whole blocks. Turn 1 has a prompt of 13 + 7; of
  // its history of 13 the blocks hold 12, so 8 are computed: 1800.
  EXPECT_EQ(of(0, 1).start.ns(), 10'000);
  EXPECT_EQ(of(0, 1).cached_tokens, 12U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 11'800);
  EXPECT_EQ(replica_->usage().prompt_tokens_looked_up, 10 + 20);
  EXPECT_EQ(replica_->usage().prompt_tokens_cached, 12);
  // Idle: 12 tokens for the gap of 6000. Held: 12 for 4000, then 20 for 1800.
  EXPECT_EQ(usage().idle_token_ns, 12 * 6'000);
  EXPECT_EQ(usage().resident_token_ns, 12 * 6'000 + 12 * 4'000 + 20 * 1'800);
  EXPECT_EQ(usage().resident_peak, 20);
  EXPECT_EQ(usage().dropped_ended, 20) << "the chain's last call leaves nothing";
}

TEST_F(SerialReplicaTest, OnlyWholeBlocksOfTheHistoryCount) {
  // Turn 1 keeps 8 of the 13 tokens of history, turn 2 keeps 7 of 10.
  run({{.calls = {{10, 3, 100}, {1, 1, 100, 5}, {1, 1, 0, 3}}}});
  EXPECT_EQ(of(0, 1).prompt_tokens, 9U);
  EXPECT_EQ(of(0, 1).cached_tokens, 8U);
  EXPECT_EQ(of(0, 2).prompt_tokens, 8U);
  EXPECT_EQ(of(0, 2).cached_tokens, 4U);
}

TEST_F(SerialReplicaTest, APromptsLastTokenIsAlwaysComputed) {
  plan({{.calls = {{10, 3}, {1, 1}}}});
  enqueue(0, 0);
  wake_to_the_end();
  // A prompt that is nothing but history: of its 8 tokens one block is found, not two.
  const ProgramCall again{.chain = 0, .history_tokens = 8};
  replica_->enqueue({.id = 1,
                     .prompt_tokens = 8,
                     .output_tokens = 1,
                     .max_tokens = 1,
                     .arrival = Instant::nanos(5'000),
                     .program = &again});
  wake_to_the_end();
  EXPECT_EQ(of(0, 1).cached_tokens, 4U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 5'000 + 1'400);
}

TEST_F(SerialReplicaTest, LessThanABlockIsNoHistory) {
  run({{.calls = {{3, 1, 100}, {5, 1}}}});
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().idle_token_ns, 0);
}

TEST_F(SerialReplicaTest, TheOtherSessionsEntryStaysWhereItIs) {
  run({{.calls = {{10, 3, 6'000}, {7, 1}}}, {.begin_ns = 5'000, .calls = {{6, 1}}}});
  // Session 1 runs from 5000 to 6600 and holds 8 tokens beside the 12 idle ones.
  EXPECT_EQ(of(1, 0).finish.ns(), 6'600);
  EXPECT_EQ(of(0, 1).cached_tokens, 12U);
  EXPECT_EQ(usage().idle_token_ns, 12 * 6'000);
  EXPECT_EQ(usage().resident_token_ns, 12 * 6'000 + 12 * 4'000 + 8 * 1'600 + 20 * 1'800);
}

TEST_F(SerialReplicaTest, RequestsOfNoProgramHaveNoHistoryAndLeaveNone) {
  plan({{.calls = {{8, 1}, {8, 1}}}});
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    Request request = plan_->request(0, turn);
    request.program = nullptr;
    replica_->enqueue(request);
  }
  wake(0);
  wake(1'800);
  replica_->wake(replica_->next_wake());
  // Prompts of 8 and 17 tokens, both computed in full.
  EXPECT_EQ(of(0, 1).first_token.ns(), 1'800 + 2'700);
  EXPECT_EQ(usage().idle_token_ns, 0);
  EXPECT_EQ(usage().resident_peak, 20);
}

// --- TTL

// Turn 0 ends at 4000, so with a TTL of 6000 its entry is gone from 10000 on.
TEST_F(SerialReplicaTest, AnEntryIsGoneFromItsTtlOn) {
  options_.retention->ttl = Duration::nanos(6'000);
  run({{.calls = {{10, 3, 5'999}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).start.ns(), 9'999);
  EXPECT_EQ(of(0, 1).cached_tokens, 12U);
  EXPECT_EQ(usage().evictions_ttl, 0);

  run({{.calls = {{10, 3, 6'000}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).start.ns(), 10'000);
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 10'000 + 3'000) << "its history is computed again";
  EXPECT_EQ(usage().evictions_ttl, 1);
  EXPECT_EQ(usage().evicted_ttl, 12);

  run({{.calls = {{10, 3, 8'000}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().idle_token_ns, 12 * 6'000) << "it left at 10000, not when somebody looked";
}

TEST_F(SerialReplicaTest, ATtlOfZeroKeepsNothing) {
  options_.retention->ttl = Duration();
  run({{.calls = {{10, 3}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).start.ns(), 4'000);
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().idle_token_ns, 0);
  EXPECT_EQ(usage().evicted_ttl, 12);

  // The other session's call begins at the instant at which 12 tokens are dropped: never both.
  run({{.calls = {{10, 3}, {7, 1}}}, {.calls = {{20, 1}}}});
  EXPECT_EQ(usage().resident_peak, 20);
}

TEST_F(SerialReplicaTest, ATtlIsJudgedWhenTheServiceStarts) {
  options_.retention->ttl = Duration::nanos(6'000);
  // Turn 1 of session 0 is ready at 9000, before its entry is gone, but session 1 is served from
  // 8000 to 10200: too late.
  run({{.calls = {{10, 3, 5'000}, {7, 1}}}, {.begin_ns = 8'000, .calls = {{12, 1}}}});
  EXPECT_EQ(of(1, 0).finish.ns(), 10'200);
  EXPECT_EQ(of(0, 1).start.ns(), 10'200);
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().idle_token_ns, 12 * 6'000);
}

// --- memory pressure

TEST_F(SerialReplicaTest, TheEntryLeftLongestAgoGoesFirst) {
  // Entries of 16 tokens each: session 0's, left at 2600, and session 1's, left at 5200. Session 2
  // needs 12 tokens: 16 + 16 + 12 > 40, so session 0's goes. At 20000 its turn 1 recomputes its
  // prompt of 17 + 3 in full; session 1's at 30000 does not: of 20 tokens 4 are computed.
  run({{.calls = {{16, 1, 17'400}, {3, 1}}},
       {.calls = {{16, 1, 24'800}, {3, 1}}},
       {.begin_ns = 6'000, .calls = {{12, 1}}}});
  EXPECT_EQ(of(0, 1).start.ns(), 20'000);
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 20'000 + 1'000 + 20 * 100);
  EXPECT_EQ(of(1, 1).start.ns(), 30'000);
  EXPECT_EQ(of(1, 1).cached_tokens, 16U);
  EXPECT_EQ(usage().evictions_pressure, 1);
  EXPECT_EQ(usage().evicted_pressure, 16);
  // 16 tokens from 2600 to 6000, and from 5200 to 30000.
  EXPECT_EQ(usage().idle_token_ns, 16 * 3'400 + 16 * 24'800);
}

TEST_F(SerialReplicaTest, AnotherTurnMakesAnEntryTheLatest) {
  // Session 0 leaves 8 tokens at 1800, session 1 16 tokens at 4400. Session 0's turn 1 at 5000
  // leaves 12 tokens at 6400; session 2 at 8000 needs 16 of 40: session 1's must go.
  run({{.calls = {{8, 1, 3'200}, {3, 1, 13'600}, {1, 1}}},
       {.calls = {{16, 1, 40'000}, {1, 1}}},
       {.begin_ns = 8'000, .calls = {{16, 1}}}});
  EXPECT_EQ(of(0, 1).start.ns(), 5'000);
  EXPECT_EQ(of(0, 1).first_token.ns(), 6'400);
  EXPECT_EQ(of(0, 2).cached_tokens, 12U);
  EXPECT_EQ(of(1, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().evicted_pressure, 16);
}

TEST_F(SerialReplicaTest, ACallNeedsNoRoomBesideItsOwnHistory) {
  // 24 tokens are idle, then the call holds 40, which is all there is: its own are among them.
  run({{.calls = {{24, 1, 1'000}, {15, 1}}}});
  EXPECT_EQ(of(0, 1).prompt_tokens, 40U);
  EXPECT_EQ(of(0, 1).cached_tokens, 24U);
  EXPECT_EQ(usage().evictions_pressure, 0);
  EXPECT_EQ(usage().resident_peak, 40);
}

TEST_F(SerialReplicaTest, WhatCanNeverBeServedIsRefused) {
  run({{.calls = {{40, 2, 0}, {1, 1}}}, {.calls = {{40, 1}}}});
  // 41 tokens to write do not fit in 40; 40 do.
  EXPECT_EQ(of(0, 0).status, OutcomeStatus::kRefused);
  EXPECT_EQ(of(0, 0).reason, Reason::kExceedsKvCache);
  EXPECT_TRUE(of(1, 0).finished());

  options_.max_model_len = 40;
  run({{.calls = {{40, 1}}}});
  EXPECT_EQ(of(0, 0).reason, Reason::kExceedsModelLen);

  options_.max_queued = 1;
  run({{.calls = {{8, 1}}},
       {.begin_ns = 1, .calls = {{8, 1}}},
       {.begin_ns = 2, .calls = {{8, 1}}}});
  EXPECT_TRUE(of(1, 0).finished());
  EXPECT_EQ(of(2, 0).reason, Reason::kQueueFull);
}

// --- recompute, and chains that have ended

TEST_F(SerialReplicaTest, WithoutRetentionEveryTurnComputesItsWholePrompt) {
  options_.retention->idle = IdleKv::kRecompute;
  run({{.calls = {{10, 3, 6'000}, {7, 1}}}});
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(of(0, 1).first_token.ns(), 13'000);
  EXPECT_EQ(usage().dropped_recompute, 12);
  EXPECT_EQ(usage().dropped_ended, 20);
  EXPECT_EQ(usage().idle_token_ns, 0);
}

TEST_F(SerialReplicaTest, AnEndedChainsCacheStaysWhereNobodyTells) {
  options_.retention->keep_ended = true;
  run({{.calls = {{10, 3}}}, {.begin_ns = 10'000, .calls = {{8, 1}}}});
  // 12 tokens from 4000 to the last event at 11800.
  EXPECT_EQ(usage().idle_token_ns, 12 * 7'800);
  EXPECT_EQ(usage().dropped_ended, 0);
  replica_->settle(Instant::nanos(20'000));
  EXPECT_EQ(usage().idle_token_ns, 12 * 16'000 + 8 * 8'200);
}

TEST_F(SerialReplicaTest, AChainThatEndedElsewhereIsDropped) {
  run({{.calls = {{10, 3, 6'000}, {7, 1}}}, {.begin_ns = 4'500, .calls = {{38, 1}}}});
  // Session 1's call left no room for session 0's entry.
  EXPECT_EQ(usage().evicted_pressure, 12);
  plan({{.calls = {{10, 3}, {1, 1}}}});
  enqueue(0, 0);
  wake_to_the_end();
  replica_->end_chain(plan_->request(0, 1), Instant::nanos(5'000));
  replica_->settle(Instant::nanos(9'000));
  EXPECT_EQ(usage().idle_token_ns, 12 * 1'000);
  EXPECT_EQ(usage().dropped_ended, 12);
}

// --- what is going on, and what happens when it ends early

TEST_F(SerialReplicaTest, ItsLoadIsWhatIsStillToBeDone) {
  plan({{.calls = {{10, 11}}}, {.calls = {{5, 2}}}});
  enqueue(0, 0);
  enqueue(1, 0);
  EXPECT_EQ(replica_->load_at(Instant()).queue_depth, 2);
  EXPECT_EQ(replica_->load_at(Instant()).tokens_in_flight, 21 + 7);
  wake(0);
  ReplicaLoad load = replica_->load_at(Instant::nanos(1'999));
  EXPECT_EQ(load.queue_depth, 1);
  EXPECT_EQ(load.running, 1);
  EXPECT_EQ(load.kv_blocks_held, 5) << "20 tokens";
  EXPECT_EQ(load.tokens_in_flight, 21 + 7) << "a prompt counts until its step ends";
  wake(2'000);
  // One token is there; steps end at 3000, 4000, ...
  EXPECT_EQ(replica_->load_at(Instant::nanos(2'999)).tokens_in_flight, 10 + 7);
  EXPECT_EQ(replica_->load_at(Instant::nanos(3'000)).tokens_in_flight, 9 + 7);
  // Nine of its ten steps end before it wakes.
  EXPECT_EQ(replica_->token_range().least, 1 + 7);
  EXPECT_EQ(replica_->token_range().most, 10 + 7);
  // From 17 tokens the middle to 9 is 13: four steps, so until the fifth ends.
  const TokenFloor floor = replica_->token_floor(Instant::nanos(2'000), 9);
  EXPECT_EQ(floor.tokens, 13);
  EXPECT_EQ(floor.until.ns(), 7'000);
  EXPECT_FALSE(floor.is_exact);
  EXPECT_TRUE(replica_->token_floor(Instant::nanos(2'000), 17).is_exact);
  EXPECT_EQ(replica_->token_floor(Instant::nanos(2'000), 17).until.ns(), 3'000);
}

TEST_F(SerialReplicaTest, AFailureLosesEverything) {
  plan({{.calls = {{8, 1}, {8, 5}}}, {.calls = {{5, 2}}}});
  enqueue(0, 0);
  wake(0);
  wake(1'800);  // 8 tokens stay
  enqueue(0, 1, 2'000);
  wake(2'000);
  // 17 - 8 tokens: the first at 3900, decode steps end at 4900, 5900, ...
  wake(3'900);
  enqueue(1, 0, 4'000);
  const std::vector<Request> lost = replica_->fail(Instant::nanos(5'900));
  ASSERT_EQ(lost.size(), 2U);
  EXPECT_EQ(lost[0].id, 1U);
  EXPECT_EQ(lost[1].id, PlannedRequests::kMostCalls);
  EXPECT_EQ(replica_->next_wake(), Instant::never());
  EXPECT_EQ(replica_->usage().busy_ns, 1'800 + 3'900);
  // Of the two steps that had begun the second ends at the failure: it does not count.
  EXPECT_EQ(replica_->usage().decode_steps, 1);
  EXPECT_EQ(replica_->load_at(Instant::nanos(6'000)).tokens_in_flight, 0);
  EXPECT_EQ(replica_->load_at(Instant::nanos(6'000)).kv_blocks_held, 0);
  EXPECT_EQ(replica_->broken_invariant(), nullptr);
  // What the chain had is gone with it.
  enqueue(0, 1, 7'000);
  wake_to_the_end();
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().idle_token_ns, 8 * 200);
}

TEST_F(SerialReplicaTest, AFailureLosesWhatIsIdle) {
  plan({{.calls = {{10, 3}, {7, 1}}}});
  enqueue(0, 0);
  wake_to_the_end();
  EXPECT_TRUE(replica_->fail(Instant::nanos(5'000)).empty());
  enqueue(0, 1, 10'000);
  wake_to_the_end();
  EXPECT_EQ(of(0, 1).cached_tokens, 0U);
  EXPECT_EQ(usage().idle_token_ns, 12 * 1'000);
  EXPECT_EQ(usage().evicted_pressure, 0);
}

TEST_F(SerialReplicaTest, WhoIsStillThereAtTheEndIsUnfinished) {
  plan({{.calls = {{10, 11}}}, {.calls = {{5, 2}}}});
  enqueue(0, 0);
  enqueue(1, 0);
  wake(0);
  wake(2'000);
  replica_->flush();
  EXPECT_EQ(of(0, 0).status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(of(0, 0).first_token.ns(), 2'000);
  EXPECT_EQ(of(0, 0).finish, Instant::never());
  EXPECT_EQ(of(1, 0).status, OutcomeStatus::kUnfinished);
  EXPECT_EQ(of(1, 0).start, Instant::never());
  EXPECT_EQ(gaps_.total(), 0);
}

}  // namespace
}  // namespace inferscale
