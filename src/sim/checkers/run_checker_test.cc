// Every invariant is broken on purpose, by an outcome that can't be or by a replica that lies, and
// must be found. A run without a lie must pass.

#include "sim/checkers/run_checker.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

// Says whatever the test sets.
class LyingReplica final : public Replica {
 public:
  void enqueue(const Request&) override {}
  Instant next_wake() const override { return next; }
  void wake(Instant) override {}
  ReplicaLoad load_at(Instant) const override { return load; }
  TokenFloor token_floor(Instant, TokenCount) const override {
    return {.tokens = load.tokens_in_flight};
  }
  const ReplicaUsage& usage() const override { return no_usage; }
  void enqueue_handoff(const Handoff&, Instant) override {}
  void transferred(RequestId, Instant) override {}
  void withdraw(RequestId, Instant) override {}
  void release(std::uint32_t, Instant) override {}
  bool cancel(RequestId, Instant) override { return false; }
  std::vector<Request> fail(Instant) override { return {}; }
  void flush() override {}
  const char* broken_invariant() const override { return broken; }

  Instant next = Instant::never();
  ReplicaLoad load;
  const char* broken = nullptr;
  ReplicaUsage no_usage;
};

Instant at(std::int64_t ns) {
  return Instant::nanos(ns);
}

Outcome finished_outcome() {
  Outcome outcome;
  outcome.arrival = at(100);
  outcome.start = at(200);
  outcome.first_token = at(300);
  outcome.finish = at(500);
  outcome.itl_max = Duration::nanos(120);
  outcome.prompt_tokens = 8;
  outcome.output_tokens = 3;
  outcome.gaps_over_limit = 1;
  outcome.status = OutcomeStatus::kFinished;
  return outcome;
}

Outcome refused_outcome() {
  Outcome outcome;
  outcome.arrival = at(100);
  outcome.prompt_tokens = 8;
  outcome.output_tokens = 3;
  outcome.status = OutcomeStatus::kRefused;
  outcome.reason = Reason::kQueueFull;
  return outcome;
}

class RunCheckerTest : public testing::Test {
 protected:
  void expect_violation(const std::string& start) {
    ASSERT_FALSE(checker_.violations().empty()) << "expected " << start;
    EXPECT_EQ(checker_.violations().front().substr(0, start.size()), start);
  }
  void expect_outcome_violates(const Outcome& outcome, const std::string& start) {
    checker_.on_outcome(0, outcome);
    expect_violation(start);
  }
  void expect_none() {
    EXPECT_TRUE(checker_.violations().empty()) << checker_.violations().front();
  }

  // Requests arrive, up to so many, and go to the one replica.
  void arrive(RequestId requests) {
    for (; arrived_ < requests; ++arrived_) {
      checker_.on_arrival(arrived_);
      checker_.on_dispatch(arrived_, 0);
    }
  }
  void event(Instant now, RequestId arrived) {
    arrive(arrived);
    checker_.on_event(now, 0, replica_);
  }

  RunChecker checker_{{{.max_num_seqs = 4, .kv_blocks = 10}}};
  RequestId arrived_ = 0;
  LyingReplica replica_;
};

TEST_F(RunCheckerTest, AWholeRunPasses) {
  replica_.next = at(100);
  event(at(100), 2);
  checker_.on_outcome(1, refused_outcome());
  replica_.next = at(500);
  replica_.load = {.queue_depth = 0, .running = 1, .kv_blocks_held = 10};
  event(at(300), 2);
  checker_.on_outcome(0, finished_outcome());
  replica_.next = Instant::never();
  replica_.load = {};
  event(at(500), 2);
  const Outcome outcomes[] = {finished_outcome(), refused_outcome()};
  checker_.on_end(outcomes, true);
  expect_none();
}

TEST_F(RunCheckerTest, Inv1RequestThatEndsTwice) {
  checker_.on_outcome(0, finished_outcome());
  expect_none();
  expect_outcome_violates(finished_outcome(), "INV-1: request 0 ended twice");
}

TEST_F(RunCheckerTest, Inv1RequestThatNeverEnds) {
  checker_.on_outcome(0, finished_outcome());
  const Outcome outcomes[] = {finished_outcome(), Outcome()};
  checker_.on_end(outcomes, false);
  expect_violation("INV-1: request 1 never ended");
}

TEST_F(RunCheckerTest, Inv1RequestThatEndsWithoutHavingArrived) {
  checker_.on_outcome(0, finished_outcome());
  checker_.on_end({}, true);
  expect_violation("INV-1: more requests ended than arrived");
}

TEST_F(RunCheckerTest, Inv1UnfinishedInADrainedRun) {
  Outcome unfinished;
  checker_.on_outcome(0, unfinished);
  const Outcome outcomes[] = {unfinished};
  checker_.on_end(outcomes, false);
  expect_none();
  checker_.on_end(outcomes, true);
  expect_violation("INV-1: request 0 is unfinished in a drained run");
}

TEST_F(RunCheckerTest, Inv1ReplicaThatLosesARequest) {
  replica_.next = at(900);
  replica_.load = {.queue_depth = 1, .running = 1};
  arrive(3);
  checker_.on_outcome(0, finished_outcome());
  event(at(500), 3);
  expect_none();
  event(at(600), 4);
  expect_violation("INV-1: 3 requests have not ended and 2 are in replica 0 at 600 ns");
}

TEST_F(RunCheckerTest, Inv2StartBeforeArrival) {
  Outcome outcome = finished_outcome();
  outcome.start = at(99);
  expect_outcome_violates(outcome, "INV-2: request 0 has timestamps out of order");
}

TEST_F(RunCheckerTest, Inv2FirstTokenBeforeStart) {
  Outcome outcome = finished_outcome();
  outcome.first_token = at(199);
  expect_outcome_violates(outcome, "INV-2: request 0 has timestamps out of order");
}

TEST_F(RunCheckerTest, Inv2FinishBeforeFirstToken) {
  Outcome outcome = finished_outcome();
  outcome.finish = at(299);
  expect_outcome_violates(outcome, "INV-2: request 0 has timestamps out of order");
}

TEST_F(RunCheckerTest, Inv2FirstTokenWithoutAStart) {
  Outcome outcome;
  outcome.first_token = at(300);
  expect_outcome_violates(outcome, "INV-2: request 0 has timestamps out of order");
}

TEST_F(RunCheckerTest, Inv2FinishedAtNoInstant) {
  Outcome outcome = finished_outcome();
  outcome.finish = Instant::never();
  expect_outcome_violates(outcome, "INV-2: request 0 finished at no instant");
}

TEST_F(RunCheckerTest, Inv2UnfinishedWithAFinish) {
  Outcome outcome = finished_outcome();
  outcome.status = OutcomeStatus::kUnfinished;
  expect_outcome_violates(outcome, "INV-2: request 0 has a finish");
}

TEST_F(RunCheckerTest, Inv2RefusedAndStarted) {
  Outcome outcome = refused_outcome();
  outcome.start = at(200);
  expect_outcome_violates(outcome, "INV-2: request 0 was refused and started");
}

TEST_F(RunCheckerTest, Inv2RefusedWithoutAReason) {
  Outcome outcome = refused_outcome();
  outcome.reason = Reason::kNone;
  expect_outcome_violates(outcome, "INV-2: request 0 was refused without a reason");
}

TEST_F(RunCheckerTest, Inv2FinishedWithARefusal) {
  Outcome outcome = finished_outcome();
  outcome.reason = Reason::kQueueFull;
  expect_outcome_violates(outcome, "INV-2: request 0 has a refusal");
}

TEST_F(RunCheckerTest, Inv2OneTokenAtTwoInstants) {
  Outcome outcome = finished_outcome();
  outcome.output_tokens = 1;
  outcome.itl_max = Duration();
  outcome.gaps_over_limit = 0;
  expect_outcome_violates(outcome, "INV-2: request 0 has one token and two token times");
}

TEST_F(RunCheckerTest, Inv3ClockThatFalls) {
  event(at(500), 0);
  event(at(500), 0);
  expect_none();
  event(at(499), 0);
  expect_violation("INV-3: the clock fell from 500 ns at 499 ns");
}

TEST_F(RunCheckerTest, Inv3WakeUpInThePast) {
  replica_.next = at(499);
  event(at(500), 0);
  expect_violation("INV-3: replica 0 asks for a wake-up in the past at 500 ns");
}

TEST_F(RunCheckerTest, Inv4MoreBlocksThanThereAre) {
  replica_.next = at(900);
  replica_.load = {.running = 1, .kv_blocks_held = 11};
  event(at(500), 1);
  expect_violation("INV-4: 11 of 10 KV blocks are held in replica 0 at 500 ns");
}

TEST_F(RunCheckerTest, Inv4LessThanNoBlocks) {
  replica_.next = at(900);
  replica_.load = {.running = 1, .kv_blocks_held = -1};
  event(at(500), 1);
  expect_violation("INV-4: -1 of 10 KV blocks are held in replica 0 at 500 ns");
}

TEST_F(RunCheckerTest, Inv4BatchOverItsLimit) {
  replica_.next = at(900);
  replica_.load = {.running = 5, .kv_blocks_held = 5};
  event(at(500), 5);
  expect_violation("INV-4: 5 sequences run in replica 0 at 500 ns");
}

TEST_F(RunCheckerTest, WhatTheReplicaItselfFindsBrokenIsPassedOn) {
  replica_.broken = "INV-4: the sequences' KV blocks are not those held";
  event(at(500), 0);
  expect_violation("INV-4: the sequences' KV blocks are not those held in replica 0 at 500 ns");
}

TEST_F(RunCheckerTest, Inv5ReplicaThatStandsStill) {
  replica_.load = {.queue_depth = 1};
  event(at(500), 1);
  expect_violation("INV-5: nothing moves and requests are in replica 0 at 500 ns");
}

TEST_F(RunCheckerTest, Inv7GapLongerThanTheDecode) {
  Outcome outcome = finished_outcome();
  outcome.itl_max = Duration::nanos(201);
  expect_outcome_violates(outcome, "INV-7: request 0 has a gap longer than its decode");
}

TEST_F(RunCheckerTest, Inv7LongestGapShorterThanTheMean) {
  Outcome outcome = finished_outcome();  // 200 ns in two gaps
  outcome.itl_max = Duration::nanos(99);
  expect_outcome_violates(outcome,
                          "INV-7: the longest gap of request 0 is shorter than their mean");
}

TEST_F(RunCheckerTest, Inv7MoreGapsThanTokens) {
  Outcome outcome = finished_outcome();
  outcome.gaps_over_limit = 3;
  expect_outcome_violates(outcome, "INV-7: request 0 has more gaps than tokens");
}

TEST_F(RunCheckerTest, Inv7GapOfAnAnswerThatHasNotBegun) {
  Outcome outcome;
  outcome.output_tokens = 3;
  outcome.itl_max = Duration::nanos(1);
  expect_outcome_violates(outcome, "INV-7: request 0 has a gap without a second token");
}

TEST_F(RunCheckerTest, ALongListOfViolationsIsCut) {
  replica_.next = at(1);
  for (int i = 0; i < 1000; ++i) event(at(500), 0);
  EXPECT_EQ(checker_.violations().size(), 20U);
}

// Two whole replicas, a prefill and a decode replica: indices 0 to 3.
class FleetCheckerTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kPrefill = 2;
  static constexpr std::uint32_t kDecode = 3;
  FleetCheckerTest()
      : checker_({{.kv_blocks = 10},
                  {.kv_blocks = 10},
                  {.role = ReplicaRole::kPrefill, .kv_blocks = 10},
                  {.role = ReplicaRole::kDecode, .kv_blocks = 10}}) {}
  void arrive(RequestId id) { checker_.on_arrival(id); }
  void hand_over(RequestId id) {
    arrive(id);
    checker_.on_dispatch(id, kPrefill);
    checker_.on_handoff(id);
    checker_.on_dispatch(id, kDecode);
  }
  void expect_violation(const std::string& expected) {
    ASSERT_FALSE(checker_.violations().empty()) << "expected " << expected;
    EXPECT_EQ(checker_.violations().front(), expected);
  }
  void expect_none() {
    EXPECT_TRUE(checker_.violations().empty()) << checker_.violations().front();
  }

  RunChecker checker_;
  LyingReplica replica_;
};

TEST_F(FleetCheckerTest, AHandOverPasses) {
  hand_over(0);
  checker_.on_transfer_start(0, at(310));
  checker_.on_transfer_end(0, at(400));
  checker_.on_outcome(0, finished_outcome());
  const Outcome outcomes[] = {finished_outcome()};
  checker_.on_end(outcomes, true);
  expect_none();
}

TEST_F(FleetCheckerTest, Inv1AReplicaWithARequestOfAnother) {
  arrive(0);
  checker_.on_dispatch(0, 1);
  replica_.next = at(900);
  replica_.load = {.running = 1};
  checker_.on_event(at(500), 1, replica_);
  expect_none();
  checker_.on_event(at(500), 0, replica_);
  expect_violation("INV-1: 0 requests have not ended and 1 are in replica 0 at 500 ns");
}

TEST_F(FleetCheckerTest, Inv1DispatchedAfterItsEnd) {
  arrive(0);
  checker_.on_dispatch(0, 0);
  checker_.on_outcome(0, finished_outcome());
  checker_.on_dispatch(0, 1);
  expect_violation("INV-1: request 0 is dispatched after its end");
}

TEST_F(FleetCheckerTest, Inv1ArrivedTwice) {
  arrive(0);
  arrive(0);
  expect_violation("INV-1: request 0 arrived twice");
}

TEST_F(FleetCheckerTest, Inv10InTwoPlaces) {
  arrive(0);
  checker_.on_dispatch(0, 0);
  checker_.on_dispatch(0, 1);
  expect_violation("INV-10: request 0 is dispatched to replica 1 while replica 0 has it");
}

TEST_F(FleetCheckerTest, Inv10ARetryIsTakenBackFirst) {
  arrive(0);
  checker_.on_dispatch(0, 0);
  checker_.on_taken_back(0);
  checker_.on_dispatch(0, 1);
  expect_none();
  checker_.on_taken_back(0);
  checker_.on_taken_back(0);
  expect_violation("INV-10: request 0 is taken back and nobody has it");
}

TEST_F(FleetCheckerTest, Inv10HandedOverByNobody) {
  arrive(0);
  checker_.on_handoff(0);
  expect_violation("INV-10: request 0 is handed over and nobody has it");
}

TEST_F(FleetCheckerTest, Inv11DecodedBeforeItsCacheCame) {
  hand_over(0);
  checker_.on_transfer_start(0, at(310));
  checker_.on_outcome(0, finished_outcome());
  expect_violation("INV-11: request 0 was decoded before its KV cache had come");
}

TEST_F(FleetCheckerTest, Inv11TransferBeforeTheFirstToken) {
  hand_over(0);
  checker_.on_transfer_start(0, at(299));
  checker_.on_transfer_end(0, at(350));
  checker_.on_outcome(0, finished_outcome());
  expect_violation("INV-11: the transfer of request 0 is not between its first and its last token");
}

TEST_F(FleetCheckerTest, Inv11TransferAfterTheLastToken) {
  hand_over(0);
  checker_.on_transfer_start(0, at(310));
  checker_.on_transfer_end(0, at(501));
  checker_.on_outcome(0, finished_outcome());
  expect_violation("INV-11: the transfer of request 0 is not between its first and its last token");
}

TEST_F(FleetCheckerTest, Inv11DecodedWhereItWasPrefilled) {
  arrive(0);
  checker_.on_dispatch(0, kPrefill);
  checker_.on_outcome(0, finished_outcome());
  expect_violation("INV-11: request 0 was decoded by a prefill replica");
}

TEST_F(FleetCheckerTest, Inv11DecodeWithoutPrefill) {
  arrive(0);
  checker_.on_dispatch(0, kDecode);
  expect_violation("INV-11: request 0 is to be decoded and was not prefilled");
}

TEST_F(FleetCheckerTest, Inv12TransferThatNobodyAskedFor) {
  arrive(0);
  checker_.on_dispatch(0, kPrefill);
  checker_.on_transfer_start(0, at(310));
  expect_violation("INV-12: a transfer of request 0 starts out of turn at 310 ns");
}

TEST_F(FleetCheckerTest, Inv12TransferThatEndsTwice) {
  hand_over(0);
  checker_.on_transfer_start(0, at(310));
  checker_.on_transfer_end(0, at(320));
  expect_none();
  checker_.on_transfer_end(0, at(330));
  expect_violation("INV-12: a transfer of request 0 ends that is not under way at 330 ns");
}

TEST_F(FleetCheckerTest, Inv12CutTwice) {
  hand_over(0);
  checker_.on_transfer_start(0, at(310));
  checker_.on_transfer_cut(0);
  expect_none();
  checker_.on_transfer_cut(0);
  expect_violation("INV-12: a transfer of request 0 is cut that is not under way");
}

TEST_F(FleetCheckerTest, Inv12TransferThatIsNeverHeardOfAgain) {
  hand_over(0);
  checker_.on_transfer_start(0, at(310));
  checker_.on_taken_back(0);
  checker_.on_dispatch(0, 0);
  checker_.on_outcome(0, refused_outcome());
  const Outcome outcomes[] = {refused_outcome()};
  checker_.on_end(outcomes, true);
  expect_violation("INV-12: 1 transfers started, 0 were completed and 0 cut");
}

TEST_F(FleetCheckerTest, Inv13Overtaken) {
  for (const RequestId id : {0U, 1U, 2U}) {
    arrive(id);
    checker_.on_dispatch(id, id == 1 ? 1 : 0);
  }
  Outcome late = finished_outcome();
  late.start = at(250);
  // Request 1 was elsewhere: it may start before request 0, request 2 may not.
  const Outcome outcomes[] = {late, finished_outcome(), finished_outcome()};
  for (const RequestId id : {0U, 1U, 2U}) checker_.on_outcome(id, outcomes[id]);
  checker_.on_end(outcomes, true);
  expect_violation("INV-13: request 2 overtook one that was dispatched to replica 0 before it");
}

}  // namespace
}  // namespace inferscale
