// Agent programs whose clients react: worked by hand, and what must hold of random ones.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "workload/programs/program_source.h"
#include "workload/programs/programs_test_support.h"

namespace inferscale {
namespace {

constexpr std::int64_t kNever = Instant::never().ns();
constexpr Answer kTooMany{.status = 429, .retry_after = {}};
constexpr Answer kLater{.status = 503, .retry_after = {}};

ClientOptions steady(std::int64_t most, std::int64_t wait_ns) {
  ClientOptions options;
  options.most_retries = most;
  const double wait_s = static_cast<double>(wait_ns) * 1e-9;
  options.backoff = {.base_s = wait_s, .factor = 1, .cap_s = wait_s, .jitter = {}};
  return options;
}

class Agents {
 public:
  Agents(Programs programs, const ClientOptions& clients)
      : programs_(std::move(programs)), source_(make_program_source(programs_, clients, 7)) {}

  std::int64_t next_at() const { return source_->next_at().ns(); }
  Request take(std::int64_t at) {
    EXPECT_EQ(next_at(), at);
    Request request;
    EXPECT_TRUE(source_->next(request));
    EXPECT_EQ(request.arrival.ns(), at);
    return request;
  }
  void finish(RequestId id, std::int64_t at) {
    Outcome outcome;
    outcome.status = OutcomeStatus::kFinished;
    source_->ended(id, outcome, {}, Instant::nanos(at));
  }
  void answer(RequestId id, std::int64_t at, const Answer& answer) {
    Outcome outcome;
    outcome.status = OutcomeStatus::kRefused;
    outcome.reason = Reason::kOverloaded;
    source_->ended(id, outcome, answer, Instant::nanos(at));
  }
  SourceRecords records(std::int64_t end) { return source_->take_records(Instant::nanos(end)); }
  ReactiveSource& source() { return *source_; }

 private:
  Programs programs_;
  std::unique_ptr<ReactiveSource> source_;
};

// A call that launches `calls` others at once, and one behind them.
Programs fan_out(std::uint32_t calls) {
  TestSession session{.begin = 0, .chains = {{.calls = {{}, {}}}}};
  for (std::uint32_t i = 1; i <= calls; ++i) {
    session.chains[0].calls[0].spawns.push_back(i);
    session.chains.push_back({.calls = {{}}});
  }
  return assemble({session});
}

TEST(ProgramClients, ACallComesAgainAndTheProgramGoesOn) {
  Agents agents(assemble({{.begin = 5, .chains = {{.calls = {{.gap = 30}, {}}}}}}), steady(2, 10));
  agents.take(5);
  agents.answer(0, 8, kLater);
  const Request again = agents.take(18);
  EXPECT_EQ(again.attempt, 1U);
  EXPECT_EQ(again.first_attempt, 0U);
  EXPECT_EQ(again.spent.ns(), 13) << "its deadline counts from when it was ready";
  agents.finish(1, 40);
  const Request second = agents.take(70);
  EXPECT_EQ(second.spent.ns(), 0);
  EXPECT_EQ(second.first_attempt, 2U);
  agents.finish(2, 80);
  const SourceRecords records = agents.records(80);
  EXPECT_TRUE(records.programs->sessions[0].complete());
  EXPECT_EQ(records.programs->call_of, (std::vector<std::uint32_t>{0, 0, 1}));
  ASSERT_TRUE(records.clients);
  ASSERT_EQ(records.clients->requests.size(), 2U);
  EXPECT_EQ(records.clients->requests[0].attempts, 2U);
  EXPECT_EQ(records.clients->requests[0].first_arrival.ns(), 5);
}

TEST(ProgramClients, AClientThatDoesNotTakeA429EndsItsSession) {
  ClientOptions codex = steady(4, 10);
  codex.retried.on_429 = false;
  Agents agents(fan_out(2), codex);
  agents.take(0);
  agents.finish(0, 10);
  agents.take(10);
  agents.take(10);
  agents.answer(1, 12, kLater);
  agents.answer(2, 15, kTooMany);
  EXPECT_EQ(agents.next_at(), kNever) << "nor does the other one's retry";
  const SourceRecords records = agents.records(30);
  EXPECT_EQ(records.programs->sessions[0].end.ns(), 15);
  EXPECT_EQ(records.programs->sessions[0].failed, 2U);
  EXPECT_EQ(records.clients->requests[1].status, RequestStatus::kGaveUp);
  EXPECT_EQ(records.clients->requests[2].status, RequestStatus::kGaveUp);
}

TEST(ProgramClients, PlainRetriesRecordNoClients) {
  const Programs programs = fan_out(1);
  const auto source = make_program_source(programs, CallRetries{});
  EXPECT_FALSE(source->take_records(Instant::nanos(1)).clients);
}

TEST(ProgramClients, ACallGivenUpAtASilentTimeoutEndsItsSessionThen) {
  // The sub-agent's second call is due at 60. The main agent's other child is patient until 50
  // only.
  ClientOptions options = steady(0, 10);
  options.timeout = Duration::nanos(40);
  options.closes = false;
  Programs programs = assemble(
      {{.begin = 0,
        .chains = {
            {.calls = {{.spawns = {1, 2}}, {}}}, {.calls = {{.gap = 45}, {}}}, {.calls = {{}}}}}});
  Agents agents(programs, options);
  agents.take(0);
  agents.finish(0, 10);
  agents.take(10);
  agents.take(10);
  agents.finish(1, 15);
  EXPECT_EQ(agents.next_at(), kNever) << "60 comes behind the end of the session at 50";
  agents.finish(2, 55);
  const SourceRecords records = agents.records(100);
  EXPECT_EQ(records.programs->sessions[0].end.ns(), 50);
  EXPECT_EQ(records.programs->calls[3].status, CallStatus::kNotReached);
  EXPECT_EQ(records.clients->requests.back().status, RequestStatus::kTimedOut);

  Agents patient(programs, options);
  patient.take(0);
  patient.finish(0, 10);
  patient.take(10);
  patient.take(10);
  patient.finish(1, 15);
  patient.finish(2, 49);  // in time after all
  patient.take(60);
}

TEST(ProgramClients, ARetryThatOvertakesItsFirstAttemptSpawnsOnce) {
  ClientOptions options = steady(1, 5);
  options.timeout = Duration::nanos(40);
  options.closes = false;
  Agents agents(fan_out(2), options);
  agents.take(0);
  agents.take(45);
  agents.finish(1, 60);
  agents.finish(0, 61);
  agents.take(60);
  agents.take(60);
  EXPECT_EQ(agents.next_at(), 105) << "the first one's, should it take too long";
  agents.finish(2, 70);
  agents.finish(3, 70);
  agents.take(70);
  agents.finish(4, 75);
  EXPECT_TRUE(agents.records(75).programs->sessions[0].complete());
}

TEST(ProgramClients, ALeaverComesAgain) {
  ClientOptions options = steady(1, 5);
  options.timeout = Duration::nanos(40);
  Agents agents(fan_out(1), options);
  agents.take(0);
  EXPECT_EQ(agents.source().next_leave().ns(), 40);
  EXPECT_EQ(agents.source().take_leaver(), 0U);
  Outcome outcome;
  outcome.status = OutcomeStatus::kAbandoned;
  agents.source().ended(0, outcome, {}, Instant::nanos(41));
  agents.take(45);
  EXPECT_EQ(agents.source().take_leaver(), 1U);
  const SourceRecords records = agents.records(90);
  EXPECT_EQ(records.programs->sessions[0].end.ns(), 85);
  EXPECT_EQ(records.programs->calls[0].status, CallStatus::kFailed);
}

// The burst of an agent: 40 calls at once, of which one is answered with 429.
TEST(ProgramClients, AFanOutShrinksAfterA429) {
  ClientOptions options = steady(3, 1);
  options.halve_after_429 = true;
  Agents agents(fan_out(40), options);
  agents.take(0);
  agents.finish(0, 10);
  for (int i = 0; i < 40; ++i) agents.take(10);
  agents.answer(1, 11, kTooMany);  // 40 in flight: at most 20
  RequestId id = 2;
  for (; id <= 10; ++id) agents.finish(id, 20);  // 30 in flight, at most 29
  EXPECT_EQ(agents.next_at(), kNever);
  agents.finish(id, 21);  // 29 in flight, at most 30
  EXPECT_EQ(agents.take(21).first_attempt, 1U);
}

ClientOptions random_clients(RandomStream& random) {
  const auto chance = [&](std::uint64_t n) { return random.below(n) == 0; };
  ClientOptions options = steady(static_cast<std::int64_t>(random.below(5)),
                                 static_cast<std::int64_t>(random.below(6)));
  options.backoff.cap_s = 1;
  options.backoff.jitter = {.low = 0.5, .high = 1.5};
  options.retried.on_429 = !chance(3);
  options.retried.on_timeout = !chance(4);
  if (chance(2)) options.timeout = Duration::nanos(2 + static_cast<int>(random.below(9)));
  options.closes = chance(2);
  options.halve_after_429 = chance(2);
  if (chance(3)) options.budget = RetryBudgetOptions{.share = 0.3, .reserve = 1};
  if (chance(3)) options.stream_failures.probability = 0.3;
  if (chance(2)) options.stream_failures.then = AfterBrokenStream::kResume;
  if (chance(3)) {
    options.router = RouterRetryOptions{
        .attempts = 3, .backoff = {.base_s = 2e-9, .factor = 2, .cap_s = 1, .jitter = {}}};
  }
  return options;
}

// Sessions of a main agent with one fan-out in each turn.
Programs random_programs(RandomStream& random) {
  std::vector<TestSession> sessions;
  for (std::uint64_t s = 0; s < 1 + random.below(4); ++s) {
    TestSession session{.begin = static_cast<std::int64_t>(10 * s), .chains = {{}}};
    session.chains[0].calls.resize(1 + random.below(4));
    for (std::size_t k = 0; k < session.chains[0].calls.size(); ++k) {
      session.chains[0].calls[k].gap = static_cast<std::int64_t>(random.below(6));
      for (std::uint64_t i = random.below(5); i > 0; --i) {
        session.chains[0].calls[k].spawns.push_back(
            static_cast<std::uint32_t>(session.chains.size()));
        session.chains.push_back({.calls = {{.gap = 3}, {}}, .joined = random.below(3) != 0});
      }
    }
    sessions.push_back(session);
  }
  return assemble(sessions);
}

SourceRecords play(ReactiveSource& source, RandomStream& random) {
  std::map<std::pair<std::int64_t, RequestId>, Outcome> served;
  std::int64_t last = 0;
  RequestId made = 0;
  while (true) {
    const std::int64_t next = source.next_at().ns();
    const std::int64_t leave = source.next_leave().ns();
    const std::int64_t end = served.empty() ? kNever : served.begin()->first.first;
    const std::int64_t now = std::min({next, leave, end});
    if (now == kNever) break;
    EXPECT_LE(last, now);
    last = now;
    if (next == now) {
      Request request;
      EXPECT_TRUE(source.next(request));
      EXPECT_EQ(request.id, made++);
      EXPECT_EQ(request.arrival.ns(), now) << "what was said to come does";
      Outcome outcome;
      outcome.status = random.below(4) == 0 ? OutcomeStatus::kRefused : OutcomeStatus::kFinished;
      served.emplace(std::pair(now + static_cast<std::int64_t>(random.below(12)), request.id),
                     outcome);
    } else if (leave == now) {
      const RequestId id = source.take_leaver();
      std::erase_if(served, [&](const auto& one) { return one.first.second == id; });
      Outcome outcome;
      outcome.status = OutcomeStatus::kAbandoned;
      served.emplace(std::pair(now, id), outcome);
    } else {
      const auto [key, outcome] = *served.begin();
      served.erase(served.begin());
      source.ended(key.second, outcome, {.status = random.below(2) == 0 ? 429 : 503},
                   Instant::nanos(now));
    }
  }
  return source.take_records(Instant::nanos(last));
}

TEST(ProgramClients, EverySessionEndsAndBothRecordsSayTheSame) {
  std::uint64_t complete = 0;
  std::uint64_t failed = 0;
  std::uint64_t tried_again = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "program clients");
    const ClientOptions clients = random_clients(random);
    const Programs programs = random_programs(random);
    const auto source = make_program_source(programs, clients, seed);
    const SourceRecords records = play(*source, random);
    for (const SessionRecord& session : records.programs->sessions) {
      ASSERT_TRUE(session.complete() || session.failed > 0);
      ASSERT_NE(session.end, Instant::never());
      ++(session.complete() ? complete : failed);
    }
    std::vector<std::uint32_t> place(programs.turns.size(), 0);
    ASSERT_EQ(records.clients->request_of.size(), records.programs->call_of.size());
    for (std::size_t i = 0; i < records.clients->request_of.size(); ++i) {
      place[records.programs->call_of[i]] = records.clients->request_of[i];
    }
    std::size_t presented = 0;
    for (std::size_t turn = 0; turn < programs.turns.size(); ++turn) {
      const CallRecord& call = records.programs->calls[turn];
      if (call.attempts == 0) {
        EXPECT_EQ(call.status, CallStatus::kNotReached);
        continue;
      }
      ++presented;
      const RequestRecord& request = records.clients->requests[place[turn]];
      EXPECT_EQ(request.attempts, call.attempts);
      EXPECT_EQ(request.last_attempt, call.request);
      EXPECT_EQ(request.first_arrival, call.ready);
      EXPECT_EQ(request.status == RequestStatus::kFinished, call.status == CallStatus::kFinished);
      tried_again += call.attempts - 1;
    }
    EXPECT_EQ(presented, records.clients->requests.size());
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(complete, 500U);
  EXPECT_GT(failed, 500U);
  EXPECT_GT(tried_again, 2000U);
}

}  // namespace
}  // namespace inferscale
