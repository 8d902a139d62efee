// Callers who go, by hand: every step takes 1000 ns, a block has 4 tokens.

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "replica/latency/linear.h"
#include "replica/replica.h"

namespace inferscale {
namespace {

class Ends final : public ReplicaSink {
 public:
  void record(RequestId id, const Outcome& outcome) override {
    EXPECT_FALSE(outcomes.contains(id)) << "request " << id << " ended twice";
    outcomes[id] = outcome;
  }
  void prefilled(const Handoff& handoff) override { handoffs.push_back(handoff); }
  void reserved(RequestId id, TokenCount, Instant) override { reservations.push_back(id); }

  std::map<RequestId, Outcome> outcomes;
  std::vector<Handoff> handoffs;
  std::vector<RequestId> reservations;
};

// With segments and with single steps.
class CancelTest : public testing::TestWithParam<bool> {
 protected:
  void begin() {
    const ReplicaSurroundings surroundings{.latency = *latency_, .sink = ends_, .gaps = gaps_};
    replica_ = GetParam() ? make_stepwise_replica(options_, surroundings)
                          : make_segment_replica(options_, surroundings);
  }
  // All wake-ups before `at_ns`.
  Instant advance(std::int64_t at_ns) {
    const Instant at = Instant::nanos(at_ns);
    while (replica_->next_wake() < at) {
      replica_->wake(replica_->next_wake());
      EXPECT_EQ(replica_->broken_invariant(), nullptr);
    }
    return at;
  }
  void arrive(Request request, std::int64_t at_ns) {
    request.arrival = advance(at_ns);
    request.max_tokens = request.output_tokens;
    replica_->enqueue(request);
    EXPECT_EQ(replica_->broken_invariant(), nullptr);
  }
  bool cancel(RequestId id, std::int64_t at_ns) {
    const bool was_here = replica_->cancel(id, advance(at_ns));
    EXPECT_EQ(replica_->broken_invariant(), nullptr);
    return was_here;
  }
  void run_out() { advance(1'000'000'000); }
  void hand_over(RequestId id, std::int64_t at_ns) {
    Request request{.id = id, .prompt_tokens = 4, .output_tokens = 5, .max_tokens = 5};
    const Instant at = advance(at_ns);
    replica_->enqueue_handoff({.request = request, .start = Instant(), .first_token = at}, at);
  }
  void transferred(RequestId id, std::int64_t at_ns) { replica_->transferred(id, advance(at_ns)); }

  // What became of it, when it was abandoned; times that never came are -1.
  void expect_abandoned(RequestId id, std::int64_t start, std::int64_t first_token,
                        std::uint32_t tokens) {
    ASSERT_TRUE(ends_.outcomes.contains(id)) << "request " << id;
    const Outcome& outcome = ends_.outcomes[id];
    const auto ns = [](Instant at) { return at == Instant::never() ? -1 : at.ns(); };
    EXPECT_EQ(outcome.status, OutcomeStatus::kAbandoned);
    EXPECT_EQ(outcome.reason, Reason::kClientGone);
    EXPECT_EQ(ns(outcome.start), start);
    EXPECT_EQ(ns(outcome.first_token), first_token);
    EXPECT_EQ(outcome.finish, Instant::never());
    EXPECT_EQ(outcome.output_tokens, tokens);
  }
  void expect_empty(std::int64_t at_ns) {
    const ReplicaLoad load = replica_->load_at(Instant::nanos(at_ns));
    EXPECT_EQ(load.queue_depth, 0);
    EXPECT_EQ(load.running, 0);
    EXPECT_EQ(load.kv_blocks_held, 0);
    EXPECT_EQ(load.tokens_in_flight, 0);
  }

  std::unique_ptr<LatencyModel> latency_ = make_linear({.step_us = 1}, {});
  Ends ends_;
  ReplicaOptions options_{.layout = {.block_tokens = 4}, .kv_blocks = 100, .max_model_len = 1000};
  DurationHistogram gaps_;
  std::unique_ptr<Replica> replica_;
};

TEST_P(CancelTest, AWaitingHeadThatGoesLetsTheNextInAtTheNextBoundary) {
  options_.kv_blocks = 6;
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 20}, 0);
  arrive({.id = 1, .prompt_tokens = 24, .output_tokens = 1}, 100);  // needs all of the cache
  arrive({.id = 2, .prompt_tokens = 4, .output_tokens = 1}, 200);
  EXPECT_TRUE(cancel(1, 2'500));
  expect_abandoned(1, -1, -1, 0);  // at once
  EXPECT_EQ(replica_->load_at(Instant::nanos(2'500)).queue_depth, 1);
  run_out();
  EXPECT_EQ(ends_.outcomes[2].start.ns(), 3'000);
  EXPECT_EQ(ends_.outcomes[2].finish.ns(), 4'000);
  // Three tokens by 3000, a step for the other's prompt, and 17 more.
  EXPECT_EQ(ends_.outcomes[0].finish.ns(), 4'000 + 17'000);
  EXPECT_EQ(ends_.outcomes[0].itl_max.ns(), 2'000);
  expect_empty(22'000);
}

TEST_P(CancelTest, AHeadThatIsTriedAloneMakesWayWhereRoomIsExpected) {
  options_.scheduler = SchedulerKind::kSglang;
  options_.kv_blocks = 10;
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 12}, 0);
  arrive({.id = 1, .prompt_tokens = 36, .output_tokens = 1}, 100);
  arrive({.id = 2, .prompt_tokens = 4, .output_tokens = 1}, 200);
  EXPECT_TRUE(cancel(1, 2'500));
  run_out();
  EXPECT_EQ(ends_.outcomes[2].start.ns(), 3'000);
}

TEST_P(CancelTest, WhoWaitsBehindTheHeadGoesWithoutATrace) {
  options_.max_num_seqs = 1;
  options_.max_queued = 2;
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 3}, 0);
  for (RequestId id = 1; id < 4; ++id)
    arrive({.id = id, .prompt_tokens = 4, .output_tokens = 1}, 100);
  EXPECT_EQ(ends_.outcomes[3].reason, Reason::kQueueFull);
  EXPECT_TRUE(cancel(2, 500));
  arrive({.id = 4, .prompt_tokens = 4, .output_tokens = 1}, 600);  // there is room again
  run_out();
  EXPECT_EQ(ends_.outcomes[1].start.ns(), 3'000);
  EXPECT_EQ(ends_.outcomes[4].start.ns(), 4'000);
  EXPECT_EQ(ends_.outcomes[4].finish.ns(), 5'000);
  EXPECT_EQ(replica_->usage().busy_ns, 5'000);
}

TEST_P(CancelTest, InTheMiddleOfAPromptItLeavesAfterTheChunk) {
  options_.scheduler = SchedulerKind::kVllm;
  options_.max_num_seqs = 1;
  options_.max_num_batched_tokens = 4;
  options_.prefix_caching = true;
  begin();
  const ContentPiece piece{.key = 7, .tokens = 12};
  const Request same{
      .prompt_tokens = 12, .output_tokens = 1, .content = &piece, .content_pieces = 1};
  Request first = same;
  first.output_tokens = 9;
  arrive(first, 0);
  Request second = same;
  second.id = 1;
  arrive(second, 100);
  EXPECT_TRUE(cancel(0, 1'500));
  EXPECT_FALSE(ends_.outcomes.contains(0));
  EXPECT_EQ(replica_->load_at(Instant::nanos(1'999)).running, 1);
  run_out();
  expect_abandoned(0, 0, -1, 0);
  // Two of three chunks were computed, and can be read.
  EXPECT_EQ(ends_.outcomes[1].cached_tokens, 8U);
  EXPECT_EQ(ends_.outcomes[1].start.ns(), 2'000);
  EXPECT_EQ(ends_.outcomes[1].finish.ns(), 3'000);
  expect_empty(3'000);
}

TEST_P(CancelTest, TheLastRunningOneLeavesAnIdleReplica) {
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 50}, 0);
  EXPECT_TRUE(cancel(0, 2'001));
  EXPECT_EQ(replica_->next_wake().ns(), 3'000);
  run_out();
  expect_abandoned(0, 0, 1'000, 3);
  EXPECT_EQ(ends_.outcomes[0].itl_max.ns(), 1'000);
  EXPECT_EQ(gaps_.total(), 2);
  EXPECT_EQ(replica_->next_wake(), Instant::never());
  EXPECT_EQ(replica_->usage().busy_ns, 3'000);
  EXPECT_EQ(replica_->usage().decode_steps, 2);
  expect_empty(3'000);
  arrive({.id = 1, .prompt_tokens = 4, .output_tokens = 1}, 10'000);
  run_out();
  EXPECT_EQ(ends_.outcomes[1].finish.ns(), 11'000);
}

TEST_P(CancelTest, AtTheInstantOfAStepsEndItGoesBeforeIt) {
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 50}, 0);
  EXPECT_TRUE(cancel(0, 2'000));
  run_out();
  expect_abandoned(0, 0, 1'000, 2);
  EXPECT_EQ(replica_->usage().busy_ns, 2'000);
}

TEST_P(CancelTest, OthersGoOnWithoutIt) {
  begin();
  for (RequestId id = 0; id < 3; ++id)
    arrive({.id = id, .prompt_tokens = 4, .output_tokens = 10}, 0);
  EXPECT_TRUE(cancel(1, 4'500));
  run_out();
  expect_abandoned(1, 0, 1'000, 5);
  EXPECT_EQ(ends_.outcomes[0].finish.ns(), 10'000);
  EXPECT_EQ(ends_.outcomes[2].finish.ns(), 10'000);
  // 9 tokens each at the end: 3 blocks; 8 at the cancelled one's: 2. It had the step from 4000 on.
  EXPECT_EQ(replica_->usage().sequence_ns, 2 * 10'000 + 5'000);
}

TEST_P(CancelTest, WhoIsNotHereAnyMoreCannotBeTakenOut) {
  begin();
  EXPECT_FALSE(cancel(0, 0));
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 10}, 0);
  arrive({.id = 1, .prompt_tokens = 4, .output_tokens = 2}, 0);
  arrive({.id = 2, .prompt_tokens = 2'000, .output_tokens = 2}, 0);  // refused
  EXPECT_FALSE(cancel(2, 0));
  EXPECT_FALSE(cancel(3, 0));
  EXPECT_TRUE(cancel(0, 2'500));
  EXPECT_FALSE(cancel(0, 2'500));
  EXPECT_FALSE(cancel(0, 2'600));
  EXPECT_FALSE(cancel(1, 2'600));  // finished
  EXPECT_FALSE(cancel(0, 3'500));
  run_out();
  expect_abandoned(0, 0, 1'000, 3);
}

TEST_P(CancelTest, ItsLastTokenMakesItNoFinishedOne) {
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 2}, 0);
  EXPECT_TRUE(cancel(0, 1'500));
  run_out();
  expect_abandoned(0, 0, 1'000, 2);
  expect_empty(2'000);
}

TEST_P(CancelTest, AStaticBatchTakesNobodyInThePlaceOfAChosenOne) {
  options_.scheduler = SchedulerKind::kStaticFcfs;
  options_.max_num_seqs = 3;
  options_.max_num_batched_tokens = 4;  // one prompt a step
  begin();
  for (RequestId id = 0; id < 3; ++id)
    arrive({.id = id, .prompt_tokens = 4, .output_tokens = 2}, 0);
  arrive({.id = 3, .prompt_tokens = 4, .output_tokens = 2}, 100);
  EXPECT_TRUE(cancel(1, 500));
  run_out();
  EXPECT_EQ(ends_.outcomes[2].start.ns(), 1'000);
  EXPECT_EQ(ends_.outcomes[2].finish.ns(), 3'000);
  EXPECT_EQ(ends_.outcomes[3].start.ns(), 3'000);
}

TEST_P(CancelTest, AStaticBatchKeepsItsPlacesWhenOneWhoWasNotChosenGoes) {
  options_.scheduler = SchedulerKind::kStaticFcfs;
  options_.max_num_seqs = 3;
  options_.max_num_batched_tokens = 4;
  begin();
  for (RequestId id = 0; id < 3; ++id)
    arrive({.id = id, .prompt_tokens = 4, .output_tokens = 2}, 0);
  for (RequestId id = 3; id < 5; ++id)
    arrive({.id = id, .prompt_tokens = 4, .output_tokens = 2}, 100);
  EXPECT_TRUE(cancel(3, 500));
  run_out();
  EXPECT_EQ(ends_.outcomes[2].start.ns(), 2'000);
  EXPECT_EQ(ends_.outcomes[4].start.ns(), 4'000);
}

TEST_P(CancelTest, AFailureDoesNotBringItBack) {
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 50}, 0);
  arrive({.id = 1, .prompt_tokens = 4, .output_tokens = 50}, 0);
  EXPECT_TRUE(cancel(0, 3'500));
  const std::vector<Request> dropped = replica_->fail(advance(3'600));
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].id, 1U);
  expect_abandoned(0, 0, 1'000, 3);  // the step under way is lost
  EXPECT_EQ(replica_->next_wake(), Instant::never());
  expect_empty(3'600);
}

TEST_P(CancelTest, TheEndOfTheRunFindsItAbandoned) {
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 50}, 0);
  arrive({.id = 1, .prompt_tokens = 4, .output_tokens = 50}, 0);
  EXPECT_TRUE(cancel(0, 3'500));
  replica_->settle(advance(3'600));
  replica_->flush();
  expect_abandoned(0, 0, 1'000, 3);
  EXPECT_EQ(ends_.outcomes[0].itl_max.ns(), 1'000);
  EXPECT_EQ(ends_.outcomes[1].status, OutcomeStatus::kUnfinished);
}

// --- roles of a split

TEST_P(CancelTest, APrefillReplicaHandsNobodyOverWhoHasGone) {
  options_.role = ReplicaRole::kPrefill;
  begin();
  arrive({.id = 0, .prompt_tokens = 4, .output_tokens = 5}, 0);
  arrive({.id = 1, .prompt_tokens = 4, .output_tokens = 5}, 0);
  EXPECT_TRUE(cancel(0, 500));
  run_out();
  expect_abandoned(0, 0, 1'000, 1);
  ASSERT_EQ(ends_.handoffs.size(), 1U);
  EXPECT_EQ(ends_.handoffs[0].request.id, 1U);
  // What it has handed over is its owner's to cancel.
  EXPECT_FALSE(cancel(1, 2'000));
  EXPECT_EQ(replica_->load_at(Instant::nanos(2'000)).kv_blocks_held, 1);
  replica_->release(ends_.handoffs[0].ticket, Instant::nanos(2'500));
  EXPECT_FALSE(cancel(1, 3'000));
  expect_empty(3'000);
}

TEST_P(CancelTest, ADecodeReplicaLetsGoBeforeAndAfterTheTransfer) {
  options_.role = ReplicaRole::kDecode;
  options_.max_num_seqs = 3;
  begin();
  for (RequestId id = 0; id < 5; ++id) hand_over(id, 0);
  transferred(0, 100);  // decodes from 100 on
  EXPECT_EQ(ends_.reservations, (std::vector<RequestId>{0, 1, 2}));
  EXPECT_TRUE(cancel(4, 150));  // waits
  expect_abandoned(4, 0, 0, 1);
  EXPECT_TRUE(cancel(1, 200));  // in transfer
  expect_abandoned(1, 0, 0, 1);
  transferred(2, 300);
  EXPECT_TRUE(cancel(2, 400));  // has come, and would decode from 1100 on
  expect_abandoned(2, 0, 0, 1);
  EXPECT_EQ(replica_->load_at(Instant::nanos(400)).running, 1);
  run_out();
  EXPECT_EQ(ends_.outcomes[0].finish.ns(), 4'100);
  EXPECT_EQ(ends_.reservations, (std::vector<RequestId>{0, 1, 2, 3}));
  transferred(3, 1'000'000'500);
  EXPECT_TRUE(cancel(3, 1'000'002'000));
  advance(2'000'000'000);
  expect_abandoned(3, 0, 0, 3);
  expect_empty(2'000'000'000);
  // 0 for 4100 ns, 1 for 200, 2 for 400, and 3 from the boundary at 1100 on.
  EXPECT_EQ(replica_->usage().sequence_ns, 4'100 + 200 + 400 + (1'000'002'500 - 1'100));
}

INSTANTIATE_TEST_SUITE_P(Replicas, CancelTest, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Stepwise" : "Segments"; });

}  // namespace
}  // namespace inferscale
