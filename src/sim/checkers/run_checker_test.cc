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
  const ReplicaUsage& usage() const override { return no_usage; }
  void enqueue_handoff(const Handoff&, Instant) override {}
  void transferred(RequestId, Instant) override {}
  void release(std::uint32_t, Instant) override {}
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
  outcome.reason = RefusalReason::kQueueFull;
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

  RunChecker checker_{{.max_num_seqs = 4, .kv_blocks = 10}};
  LyingReplica replica_;
};

TEST_F(RunCheckerTest, AWholeRunPasses) {
  replica_.next = at(100);
  checker_.on_event(at(100), replica_, 2);
  checker_.on_outcome(1, refused_outcome());
  replica_.next = at(500);
  replica_.load = {.queue_depth = 0, .running = 1, .kv_blocks_held = 10};
  checker_.on_event(at(300), replica_, 2);
  checker_.on_outcome(0, finished_outcome());
  replica_.next = Instant::never();
  replica_.load = {};
  checker_.on_event(at(500), replica_, 2);
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
  checker_.on_outcome(0, finished_outcome());
  checker_.on_event(at(500), replica_, 3);
  expect_none();
  checker_.on_event(at(600), replica_, 4);
  expect_violation("INV-1: 3 requests have not ended and 2 are in the replica at 600 ns");
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
  outcome.reason = RefusalReason::kNone;
  expect_outcome_violates(outcome, "INV-2: request 0 was refused without a reason");
}

TEST_F(RunCheckerTest, Inv2FinishedWithARefusal) {
  Outcome outcome = finished_outcome();
  outcome.reason = RefusalReason::kQueueFull;
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
  checker_.on_event(at(500), replica_, 0);
  checker_.on_event(at(500), replica_, 0);
  expect_none();
  checker_.on_event(at(499), replica_, 0);
  expect_violation("INV-3: the clock fell from 500 ns at 499 ns");
}

TEST_F(RunCheckerTest, Inv3WakeUpInThePast) {
  replica_.next = at(499);
  checker_.on_event(at(500), replica_, 0);
  expect_violation("INV-3: the replica asks for a wake-up in the past at 500 ns");
}

TEST_F(RunCheckerTest, Inv4MoreBlocksThanThereAre) {
  replica_.next = at(900);
  replica_.load = {.running = 1, .kv_blocks_held = 11};
  checker_.on_event(at(500), replica_, 1);
  expect_violation("INV-4: 11 of 10 KV blocks are held at 500 ns");
}

TEST_F(RunCheckerTest, Inv4LessThanNoBlocks) {
  replica_.next = at(900);
  replica_.load = {.running = 1, .kv_blocks_held = -1};
  checker_.on_event(at(500), replica_, 1);
  expect_violation("INV-4: -1 of 10 KV blocks are held at 500 ns");
}

TEST_F(RunCheckerTest, Inv4BatchOverItsLimit) {
  replica_.next = at(900);
  replica_.load = {.running = 5, .kv_blocks_held = 5};
  checker_.on_event(at(500), replica_, 5);
  expect_violation("INV-4: 5 sequences run at 500 ns");
}

TEST_F(RunCheckerTest, WhatTheReplicaItselfFindsBrokenIsPassedOn) {
  replica_.broken = "INV-4: the sequences' KV blocks are not those held";
  checker_.on_event(at(500), replica_, 0);
  expect_violation("INV-4: the sequences' KV blocks are not those held at 500 ns");
}

TEST_F(RunCheckerTest, Inv5ReplicaThatStandsStill) {
  replica_.load = {.queue_depth = 1};
  checker_.on_event(at(500), replica_, 1);
  expect_violation("INV-5: the replica stands still with requests in it at 500 ns");
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
  for (int i = 0; i < 1000; ++i) checker_.on_event(at(500), replica_, 0);
  EXPECT_EQ(checker_.violations().size(), 20U);
}

}  // namespace
}  // namespace inferscale
