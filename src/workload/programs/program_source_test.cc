// Calls become ready as the programs say: worked by hand.

#include "workload/programs/program_source.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "workload/programs/programs_test_support.h"

namespace inferscale {
namespace {

constexpr std::int64_t kNever = Instant::never().ns();

// Plays the system: what arrives, and what is said about it, is up to each test.
class Door {
 public:
  explicit Door(Programs programs, const CallRetries& retries = {})
      : programs_(std::move(programs)), source_(make_program_source(programs_, retries)) {}

  std::int64_t next_at() const { return source_->next_at().ns(); }
  // Chain and turn that arrive at the next instant, as "chain.turn".
  std::string take(std::int64_t at) {
    EXPECT_EQ(next_at(), at);
    Request request;
    EXPECT_TRUE(source_->next(request));
    EXPECT_EQ(request.arrival.ns(), at);
    EXPECT_EQ(request.id, taken_);
    ++taken_;
    const ProgramChain& chain = programs_.chains[request.program->chain];
    EXPECT_EQ(chain.session, request.session);
    const auto turn = request.prompt_tokens / 10 - 1;
    EXPECT_EQ(request.program, &programs_.turns[chain.first_turn + turn].call);
    return std::to_string(request.program->chain) + "." + std::to_string(turn);
  }
  void finish(RequestId id, std::int64_t at) { end(id, OutcomeStatus::kFinished, at); }
  void refuse(RequestId id, std::int64_t at, Reason reason = Reason::kQueueFull) {
    end(id, OutcomeStatus::kRefused, at, reason);
  }
  void lose(RequestId id, std::int64_t at) { end(id, OutcomeStatus::kLost, at); }
  ProgramRecords records(std::int64_t end) {
    return *source_->take_records(Instant::nanos(end)).programs;
  }
  ReactiveSource& source() { return *source_; }

 private:
  void end(RequestId id, OutcomeStatus status, std::int64_t at, Reason reason = Reason::kNone) {
    Outcome outcome;
    outcome.status = status;
    outcome.reason = reason;
    if (status == OutcomeStatus::kFinished) outcome.finish = Instant::nanos(at);
    source_->ended(id, outcome, {}, Instant::nanos(at));
  }

  Programs programs_;
  std::unique_ptr<ReactiveSource> source_;
  RequestId taken_ = 0;
};

std::vector<CallStatus> statuses(const ProgramRecords& records) {
  std::vector<CallStatus> list;
  for (const CallRecord& call : records.calls) list.push_back(call.status);
  return list;
}

TEST(ProgramSource, ACallWaitsForTheOneBeforeItAndItsGap) {
  Door door(assemble({{.begin = 100, .chains = {{.calls = {{.gap = 30}, {}}}}}}));
  EXPECT_EQ(door.source().size(), 2U);
  EXPECT_EQ(door.take(100), "0.0");
  EXPECT_EQ(door.next_at(), kNever);
  Request request;
  EXPECT_FALSE(door.source().next(request));
  door.finish(0, 250);
  EXPECT_EQ(door.take(280), "0.1");
  door.finish(1, 300);
  EXPECT_EQ(door.next_at(), kNever);

  const ProgramRecords records = door.records(300);
  ASSERT_EQ(records.calls.size(), 2U);
  EXPECT_EQ(records.calls[1].ready.ns(), 280);
  EXPECT_EQ(records.calls[1].request, 1U);
  EXPECT_EQ(records.calls[1].attempts, 1U);
  EXPECT_EQ(records.calls[1].turn, 1U);
  EXPECT_EQ(records.calls[1].history_tokens, 13U);
  EXPECT_EQ(records.calls[1].prompt_tokens, 20U);
  EXPECT_EQ(records.calls[1].output_tokens, 3U);
  ASSERT_EQ(records.sessions.size(), 1U);
  EXPECT_TRUE(records.sessions[0].complete());
  EXPECT_EQ(records.sessions[0].begin.ns(), 100);
  EXPECT_EQ(records.sessions[0].end.ns(), 300);
  EXPECT_EQ(records.sessions[0].gaps.ns(), 30);
  EXPECT_EQ(records.sessions[0].chains, 1U);
}

TEST(ProgramSource, TheRequestIsWhatTheProgramSays) {
  Programs programs = assemble({{.chains = {{.calls = {{}}}}}});
  programs.pieces = {{1, 4}, {2, 5}, {3, 3}};
  programs.sessions[0].tenant = 7;
  programs.turns[0].content_begin = 1;
  programs.turns[0].content_pieces = 1;
  programs.turns[0].output_is_content = true;
  const auto source = make_program_source(programs, {});
  Request request;
  ASSERT_TRUE(source->next(request));
  EXPECT_EQ(request.content, &programs.pieces[1]);
  EXPECT_EQ(request.content_pieces, 1U);
  EXPECT_TRUE(request.output_is_content);
  EXPECT_EQ(request.tenant, 7U);
  EXPECT_EQ(request.session, 0U);
  EXPECT_EQ(request.output_tokens, 3U);
  EXPECT_EQ(request.max_tokens, 3U);
}

TEST(ProgramSource, OneInstantIsInOrderOfSessionChainAndTurn) {
  // At 10: the second session begins, the first one's second call is ready, and both its chains.
  Door door(assemble({{.begin = 0,
                       .chains = {{.calls = {{.gap = 6, .spawns = {1, 2}}, {}}},
                                  {.calls = {{}}, .delay = 6, .joined = false},
                                  {.calls = {{}}, .delay = 6, .joined = false}}},
                      {.begin = 10, .chains = {{.calls = {{}}}}}}));
  door.take(0);
  door.finish(0, 4);
  EXPECT_EQ(door.take(10), "0.1");
  EXPECT_EQ(door.take(10), "1.0");
  EXPECT_EQ(door.take(10), "2.0");
  EXPECT_EQ(door.take(10), "3.0");
}

TEST(ProgramSource, ATurnWaitsForEveryJoinedChainThatTheTurnBeforeSpawned) {
  // A fan-out of two calls, one sub-agent of two, and one chain that nobody waits for.
  Door door(assemble({{.begin = 0,
                       .chains = {{.calls = {{.gap = 5, .spawns = {1, 2, 3, 4}}, {}}},
                                  {.calls = {{}}},
                                  {.calls = {{}}},
                                  {.calls = {{.gap = 40}, {}}, .delay = 1},
                                  {.calls = {{}}, .delay = 2, .joined = false}}}}));
  door.take(0);
  door.finish(0, 10);
  EXPECT_EQ(door.take(10), "1.0");
  EXPECT_EQ(door.take(10), "2.0");
  EXPECT_EQ(door.take(11), "3.0");
  EXPECT_EQ(door.take(12), "4.0");
  door.finish(1, 20);
  door.finish(2, 21);
  door.finish(3, 22);
  EXPECT_EQ(door.take(62), "3.1");
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(5, 70);
  EXPECT_EQ(door.take(70), "0.1");
  door.finish(6, 75);
  EXPECT_EQ(door.source().take_records(Instant::nanos(75)).programs->sessions[0].end,
            Instant::never())
      << "the chain that nobody waits for is still being served";
}

TEST(ProgramSource, AJoinThatIsOverBeforeTheGapChangesNothing) {
  Door door(assemble(
      {{.begin = 0, .chains = {{.calls = {{.gap = 50, .spawns = {1}}, {}}}, {.calls = {{}}}}}}));
  door.take(0);
  door.finish(0, 10);
  EXPECT_EQ(door.take(10), "1.0");
  EXPECT_EQ(door.next_at(), kNever) << "a call that waits for a join is not known yet";
  door.finish(1, 20);
  EXPECT_EQ(door.take(60), "0.1");
}

// The chain that ends first has the longer rest, and decides.
TEST(ProgramSource, ARestBehindAJoinedChainCountsFromItsEnd) {
  Door door(assemble({{.begin = 0,
                       .chains = {{.calls = {{.gap = 5, .spawns = {1, 2}}, {}}},
                                  {.calls = {{}}, .rest = 30},
                                  {.calls = {{}}, .rest = 4}}}}));
  door.take(0);
  door.finish(0, 10);
  EXPECT_EQ(door.take(10), "1.0");
  EXPECT_EQ(door.take(10), "2.0");
  door.finish(1, 20);
  EXPECT_EQ(door.next_at(), kNever);
  door.finish(2, 40);
  EXPECT_EQ(door.take(50), "0.1");
  door.finish(3, 55);
  const ProgramRecords records = door.records(55);
  EXPECT_EQ(records.calls[1].ready.ns(), 50);
  EXPECT_EQ(records.sessions[0].end.ns(), 55);
  EXPECT_EQ(records.sessions[0].gaps.ns(), 30);
}

TEST(ProgramSource, NobodyWaitsForWhatALastCallSpawns) {
  Door door(assemble({{.begin = 0,
                       .chains = {{.calls = {{.spawns = {1}}, {}}},
                                  {.calls = {{.spawns = {2}}}},
                                  {.calls = {{}}, .delay = 100}}}}));
  door.take(0);
  door.finish(0, 10);
  EXPECT_EQ(door.take(10), "1.0");
  door.finish(1, 20);
  EXPECT_EQ(door.take(20), "0.1") << "chain 1 has ended with its last call";
  door.finish(2, 30);
  EXPECT_EQ(door.take(120), "2.0");
  door.finish(3, 130);
  const ProgramRecords records = door.records(130);
  EXPECT_TRUE(records.sessions[0].complete());
  EXPECT_EQ(records.sessions[0].end.ns(), 130);
  EXPECT_EQ(records.sessions[0].gaps.ns(), 100);
}

TEST(ProgramSource, AFullQueueAndALostReplicaAreTriedAgain) {
  Door door(assemble({{.begin = 0, .chains = {{.calls = {{.gap = 7}, {}}}}}}),
            {.most = 2, .delay = Duration::nanos(100)});
  door.take(0);
  door.refuse(0, 0);
  EXPECT_EQ(door.take(100), "0.0");
  door.lose(1, 130);
  EXPECT_EQ(door.take(230), "0.0");
  door.finish(2, 240);
  EXPECT_EQ(door.take(247), "0.1");
  door.refuse(3, 247);
  const ProgramRecords records = door.records(300);
  EXPECT_EQ(statuses(records), (std::vector{CallStatus::kFinished, CallStatus::kUnfinished}))
      << "a retry was due at 347";
  EXPECT_EQ(records.calls[0].attempts, 3U);
  EXPECT_EQ(records.calls[0].request, 2U);
  EXPECT_EQ(records.calls[0].ready.ns(), 0);
  EXPECT_EQ(records.calls[1].attempts, 1U);
  EXPECT_EQ(records.sessions[0].failed, 0U);
  EXPECT_EQ(records.sessions[0].end, Instant::never());
}

TEST(ProgramSource, ACallOutOfAttemptsEndsItsSession) {
  Door door(assemble({{.begin = 0,
                       .chains = {{.calls = {{.spawns = {1, 2}}, {}}},
                                  {.calls = {{.gap = 1}, {}}, .joined = false},
                                  {.calls = {{.gap = 90}, {}}, .joined = false}}},
                      {.begin = 500, .chains = {{.calls = {{}}}}}}),
            {.most = 1, .delay = Duration::nanos(10)});
  door.take(0);
  door.finish(0, 5);
  EXPECT_EQ(door.take(5), "0.1");
  EXPECT_EQ(door.take(5), "1.0");
  EXPECT_EQ(door.take(5), "2.0");
  door.finish(3, 8);  // the call after it would be ready at 98
  door.refuse(1, 9);
  EXPECT_EQ(door.take(19), "0.1");
  door.refuse(4, 30);
  EXPECT_EQ(door.next_at(), 500) << "nothing of the first session arrives any more";
  door.finish(2, 40);  // but what is being served counts
  EXPECT_EQ(door.next_at(), 500);

  const ProgramRecords records = door.records(200);
  EXPECT_EQ(statuses(records),
            (std::vector{CallStatus::kFinished, CallStatus::kFailed, CallStatus::kFinished,
                         CallStatus::kNotReached, CallStatus::kFinished, CallStatus::kNotReached,
                         CallStatus::kNotReached}));
  EXPECT_EQ(records.calls[5].ready, Instant::never());
  EXPECT_EQ(records.sessions[0].finished, 3U);
  EXPECT_EQ(records.sessions[0].failed, 1U);
  EXPECT_EQ(records.sessions[0].end.ns(), 30);
  EXPECT_FALSE(records.sessions[0].complete());
  EXPECT_EQ(records.sessions[1].end, Instant::never());
}

TEST(ProgramSource, ACallThatCanNeverRunIsNotTriedAgain) {
  for (const Reason reason : {Reason::kExceedsKvCache, Reason::kExceedsModelLen}) {
    Door door(assemble({{.begin = 0, .chains = {{.calls = {{}, {}}}}}}),
              {.most = 5, .delay = Duration::nanos(10)});
    door.take(0);
    door.refuse(0, 0, reason);
    EXPECT_EQ(door.next_at(), kNever);
    const ProgramRecords records = door.records(0);
    EXPECT_EQ(statuses(records), (std::vector{CallStatus::kFailed, CallStatus::kNotReached}));
    EXPECT_EQ(records.sessions[0].end.ns(), 0);
  }
}

TEST(ProgramSource, ARetryThatWasDueWhenItsSessionEndedHasFailed) {
  Door door(
      assemble({{.begin = 0,
                 .chains = {{.calls = {{.spawns = {1}}, {}}}, {.calls = {{}}, .joined = false}}}}),
      {.most = 1, .delay = Duration::nanos(1000)});
  door.take(0);
  door.finish(0, 1);
  door.take(1);
  door.take(1);
  door.refuse(1, 2);
  door.refuse(2, 3, Reason::kExceedsModelLen);
  EXPECT_EQ(door.next_at(), kNever);
  const ProgramRecords records = door.records(3);
  EXPECT_EQ(statuses(records),
            (std::vector{CallStatus::kFinished, CallStatus::kFailed, CallStatus::kFailed}));
  EXPECT_EQ(records.sessions[0].failed, 2U);
  EXPECT_EQ(records.sessions[0].end.ns(), 3);
}

TEST(ProgramSource, WhatIsReadyWhenTheRunEndsIsUnfinishedAndWhatIsNotWasNotReached) {
  const Programs programs = assemble({{.begin = 0, .chains = {{.calls = {{.gap = 50}, {}}}}}});
  for (const auto& [end, status] :
       {std::pair{59, CallStatus::kNotReached}, std::pair{60, CallStatus::kUnfinished}}) {
    Door door(programs);
    door.take(0);
    door.finish(0, 10);
    const ProgramRecords records = door.records(end);
    EXPECT_EQ(records.calls[1].status, status) << end;
    EXPECT_EQ(records.calls[1].request, CallRecord::kNone);
    EXPECT_EQ(records.calls[1].ready == Instant::never(), status == CallStatus::kNotReached);
  }
}

TEST(ProgramSourceDeathTest, TakesNoBrokenProgramsAndNoEndTwice) {
  Programs programs = assemble({{.begin = 0, .chains = {{.calls = {{}}}}}});
  programs.turns[0].prompt_tokens = 0;
  EXPECT_DEATH(make_program_source(programs, {}), "without tokens");
  Door door(assemble({{.begin = 0, .chains = {{.calls = {{}, {}}}}}}));
  door.take(0);
  EXPECT_DEATH(door.finish(1, 5), "never made");
  door.finish(0, 5);
  EXPECT_DEATH(door.finish(0, 6), "ended twice");
}

}  // namespace
}  // namespace inferscale
