// Random programs and random service, against a plain interpreter that looks at every call again
// whenever it wants to know what comes next.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "workload/programs/program_source.h"
#include "workload/programs/programs_test_support.h"

namespace inferscale {
namespace {

// How much goes wrong.
constexpr int kNothingTakesTime = -1;
constexpr int kNoTrouble = 0;
constexpr int kOverload = 1;         // full queues, lost replicas
constexpr int kImpossibleCalls = 2;  // that too

// How one attempt of a call goes: the same for both, whatever else happens.
struct Service {
  std::int64_t takes;
  Outcome outcome;
};

Service service_of(std::uint64_t seed, std::uint32_t turn, std::uint32_t attempt, int trouble) {
  SplitMix64 random(seed + (std::uint64_t{turn} << 20) + attempt);
  Service service{.takes = static_cast<std::int64_t>(random.next() % 6), .outcome = {}};
  if (trouble == kNothingTakesTime) service.takes = 0;
  service.outcome.status = OutcomeStatus::kFinished;
  switch (random.next() % 100U) {
    case 0:
      if (trouble >= kImpossibleCalls) service.outcome.reason = Reason::kExceedsModelLen;
      break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
      if (trouble >= kOverload) service.outcome.reason = Reason::kQueueFull;
      break;
    case 7:
    case 8:
    case 9:
      if (trouble >= kOverload) service.outcome.status = OutcomeStatus::kLost;
      break;
    default:
      break;
  }
  if (service.outcome.reason != Reason::kNone) {
    service.outcome.status = OutcomeStatus::kRefused;
  }
  return service;
}

TestSession random_session(RandomStream& random, std::int64_t begin) {
  TestSession session{.begin = begin, .chains = {}};
  const std::uint64_t chains = 1 + random.below(5);
  for (std::uint64_t c = 0; c < chains; ++c) {
    TestChain chain;
    chain.delay = static_cast<std::int64_t>(random.below(4));
    chain.joined = random.below(3) != 0;
    chain.calls.resize(1 + random.below(4));
    for (TestCall& call : chain.calls) call.gap = static_cast<std::int64_t>(random.below(12));
    session.chains.push_back(chain);
  }
  for (std::uint32_t c = 1; c < chains; ++c) {
    TestChain& spawner = session.chains[random.below(c)];
    const std::uint64_t call = random.below(spawner.calls.size());
    spawner.calls[call].spawns.push_back(c);
    const bool is_awaited = session.chains[c].joined && call + 1 < spawner.calls.size();
    if (is_awaited) session.chains[c].rest = static_cast<std::int64_t>(random.below(10));
  }
  return session;
}

Programs random_programs(RandomStream& random) {
  std::vector<TestSession> sessions;
  std::int64_t begin = 0;
  const std::uint64_t count = 1 + random.below(5);
  for (std::uint64_t s = 0; s < count; ++s) {
    sessions.push_back(random_session(random, begin));
    begin += static_cast<std::int64_t>(random.below(20));
  }
  return assemble(sessions);
}

using Arrival = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // ns, turn, attempt

struct Played {
  std::vector<Arrival> arrivals;
  ProgramRecords records;
};

struct InFlight {
  std::int64_t ends;
  RequestId id;
  std::uint32_t turn;
  Outcome outcome;
  bool operator<(const InFlight& other) const {
    return std::tie(ends, id) < std::tie(other.ends, other.id);
  }
};

// Arrivals come before ends of the same instant.
Played play_source(const Programs& programs, const CallRetries& retries, std::uint64_t seed,
                   int trouble, std::int64_t stop) {
  Played played;
  const auto source = make_program_source(programs, retries);
  std::vector<InFlight> served;
  std::vector<std::uint32_t> attempts(programs.turns.size(), 0);
  while (true) {
    std::sort(served.begin(), served.end());
    const std::int64_t next = source->next_at().ns();
    const std::int64_t end = served.empty() ? Instant::never().ns() : served.front().ends;
    if (std::min(next, end) > stop) break;
    if (next <= end) {
      Request request;
      EXPECT_TRUE(source->next(request));
      EXPECT_EQ(request.arrival.ns(), next);
      EXPECT_EQ(request.id, played.arrivals.size());
      const auto turn = static_cast<std::uint32_t>(
          std::find_if(programs.turns.begin(), programs.turns.end(),
                       [&](const ProgramTurn& made) { return &made.call == request.program; }) -
          programs.turns.begin());
      played.arrivals.emplace_back(next, turn, ++attempts[turn]);
      const Service service = service_of(seed, turn, attempts[turn], trouble);
      served.push_back({next + service.takes, request.id, turn, service.outcome});
    } else {
      const InFlight done = served.front();
      served.erase(served.begin());
      source->ended(done.id, done.outcome, {}, Instant::nanos(done.ends));
    }
  }
  played.records = *source->take_records(Instant::nanos(stop)).programs;
  return played;
}

// The definitions of programs.h and program_source.h, word by word.
class Interpreter {
 public:
  Interpreter(const Programs& programs, const CallRetries& retries, std::uint64_t seed, int trouble)
      : programs_(programs),
        retries_(retries),
        seed_(seed),
        trouble_(trouble),
        calls_(programs.turns.size()),
        session_end_(programs.sessions.size()) {}

  Played play(std::int64_t stop);

 private:
  struct Call {
    std::uint32_t attempts = 0;
    RequestId request = CallRecord::kNone;
    std::optional<std::int64_t> ends;    // of the attempt in flight
    std::optional<std::int64_t> failed;  // its last attempt, at
    bool again = false;                  // ... and it may be tried again
    std::optional<std::int64_t> finished;
    std::optional<std::int64_t> ready;  // at its first attempt
  };

  const ProgramChain& chain_of(std::uint32_t turn) const {
    return programs_.chains[programs_.turns[turn].call.chain];
  }
  std::optional<std::int64_t> chain_end(std::uint32_t chain) const {
    return calls_[programs_.chains[chain].first_turn + programs_.chains[chain].turns - 1].finished;
  }
  std::optional<std::int64_t> ready(std::uint32_t turn) const;
  std::optional<std::int64_t> presented_next(std::uint32_t turn) const;
  void present(std::uint32_t turn, std::int64_t at, Played& played);
  void end(std::uint32_t turn);
  ProgramRecords records(std::int64_t stop) const;

  const Programs& programs_;
  CallRetries retries_;
  std::uint64_t seed_;
  int trouble_;
  std::vector<Call> calls_;
  std::vector<std::optional<std::int64_t>> session_end_;  // by a failure
};

std::optional<std::int64_t> Interpreter::ready(std::uint32_t turn) const {
  const ProgramChain& chain = chain_of(turn);
  const ProgramSession& session = programs_.sessions[chain.session];
  const std::uint32_t index = programs_.turns[turn].call.chain;
  if (turn == chain.first_turn) {
    if (index == session.first_chain) return session.begin.ns();
    for (std::uint32_t other = 0; other < programs_.turns.size(); ++other) {
      const ProgramTurn& spawner = programs_.turns[other];
      for (std::uint32_t i = 0; i < spawner.spawns; ++i) {
        if (programs_.spawned[spawner.first_spawn + i] != index) continue;
        if (!calls_[other].finished) return std::nullopt;
        return *calls_[other].finished + chain.delay.ns();
      }
    }
    return std::nullopt;
  }
  const ProgramTurn& before = programs_.turns[turn - 1];
  if (!calls_[turn - 1].finished) return std::nullopt;
  std::int64_t at = *calls_[turn - 1].finished + before.gap.ns();
  for (std::uint32_t i = 0; i < before.spawns; ++i) {
    const std::uint32_t child = programs_.spawned[before.first_spawn + i];
    if (!programs_.chains[child].joined) continue;
    if (!chain_end(child)) return std::nullopt;
    at = std::max(at, *chain_end(child) + programs_.chains[child].rest.ns());
  }
  return at;
}

std::optional<std::int64_t> Interpreter::presented_next(std::uint32_t turn) const {
  const Call& call = calls_[turn];
  if (session_end_[chain_of(turn).session] || call.ends || call.finished) return std::nullopt;
  if (call.attempts == 0) return ready(turn);
  if (!call.again) return std::nullopt;
  return *call.failed + retries_.delay.ns();
}

void Interpreter::present(std::uint32_t turn, std::int64_t at, Played& played) {
  Call& call = calls_[turn];
  if (call.attempts == 0) call.ready = at;
  call.request = static_cast<RequestId>(played.arrivals.size());
  call.failed.reset();
  played.arrivals.emplace_back(at, turn, ++call.attempts);
  call.ends = at + service_of(seed_, turn, call.attempts, trouble_).takes;
}

void Interpreter::end(std::uint32_t turn) {
  Call& call = calls_[turn];
  const std::int64_t at = *call.ends;
  call.ends.reset();
  const Outcome outcome = service_of(seed_, turn, call.attempts, trouble_).outcome;
  if (outcome.finished()) {
    call.finished = at;
    return;
  }
  std::optional<std::int64_t>& session_end = session_end_[chain_of(turn).session];
  call.failed = at;
  call.again =
      !session_end && call.attempts <= retries_.most && outcome.reason != Reason::kExceedsModelLen;
  if (!call.again && !session_end) session_end = at;
}

ProgramRecords Interpreter::records(std::int64_t stop) const {
  ProgramRecords records;
  records.sessions.resize(programs_.sessions.size());
  for (std::uint32_t turn = 0; turn < calls_.size(); ++turn) {
    const Call& call = calls_[turn];
    const std::uint32_t s = chain_of(turn).session;
    SessionRecord& session = records.sessions[s];
    CallRecord& record = records.calls.emplace_back();
    record.attempts = call.attempts;
    record.request = call.request;
    if (call.ready) record.ready = Instant::nanos(*call.ready);
    ++session.calls;
    if (call.finished) {
      record.status = CallStatus::kFinished;
      ++session.finished;
    } else if (call.attempts > 0) {
      const bool over = call.failed && (session_end_[s] || !call.again);
      record.status = over ? CallStatus::kFailed : CallStatus::kUnfinished;
      if (over) ++session.failed;
    } else if (!session_end_[s] && ready(turn) && *ready(turn) <= stop) {
      record.status = CallStatus::kUnfinished;
      record.ready = Instant::nanos(*ready(turn));
    }
    if (session_end_[s]) {
      session.end = Instant::nanos(*session_end_[s]);
    } else if (call.finished) {
      const Instant last = Instant::nanos(*call.finished);
      session.end = session.end == Instant::never() ? last : std::max(session.end, last);
    }
  }
  for (std::uint32_t s = 0; s < records.sessions.size(); ++s) {
    SessionRecord& session = records.sessions[s];
    if (!session_end_[s] && !session.complete()) session.end = Instant::never();
  }
  return records;
}

Played Interpreter::play(std::int64_t stop) {
  Played played;
  while (true) {
    std::optional<std::pair<std::int64_t, std::uint32_t>> next;
    std::optional<std::tuple<std::int64_t, RequestId, std::uint32_t>> done;
    for (std::uint32_t turn = 0; turn < calls_.size(); ++turn) {
      const auto at = presented_next(turn);
      if (at && (!next || std::pair(*at, turn) < *next)) next = {*at, turn};
      const Call& call = calls_[turn];
      if (!call.ends) continue;
      const std::tuple end{*call.ends, call.request, turn};
      if (!done || end < *done) done = end;
    }
    const std::int64_t next_at = next ? next->first : Instant::never().ns();
    const std::int64_t end_at = done ? std::get<0>(*done) : Instant::never().ns();
    if (std::min(next_at, end_at) > stop) break;
    if (next_at <= end_at) {
      present(next->second, next_at, played);
    } else {
      end(std::get<2>(*done));
    }
  }
  played.records = records(stop);
  return played;
}

void expect_same(const Played& found, const Played& expected) {
  EXPECT_EQ(found.arrivals, expected.arrivals);
  ASSERT_EQ(found.records.calls.size(), expected.records.calls.size());
  for (std::size_t i = 0; i < found.records.calls.size(); ++i) {
    const CallRecord& call = found.records.calls[i];
    const CallRecord& wanted = expected.records.calls[i];
    EXPECT_EQ(call.status, wanted.status) << i;
    EXPECT_EQ(call.attempts, wanted.attempts) << i;
    EXPECT_EQ(call.request, wanted.request) << i;
    EXPECT_EQ(call.ready, wanted.ready) << i;
  }
  ASSERT_EQ(found.records.sessions.size(), expected.records.sessions.size());
  for (std::size_t i = 0; i < found.records.sessions.size(); ++i) {
    const SessionRecord& session = found.records.sessions[i];
    const SessionRecord& wanted = expected.records.sessions[i];
    EXPECT_EQ(session.calls, wanted.calls) << i;
    EXPECT_EQ(session.finished, wanted.finished) << i;
    EXPECT_EQ(session.failed, wanted.failed) << i;
    EXPECT_EQ(session.end, wanted.end) << i;
  }
}

TEST(ProgramSource, DoesWhatAPlainInterpreterDoes) {
  std::size_t complete = 0;
  std::size_t failed = 0;
  std::size_t retried = 0;
  std::size_t cut_short = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "programs");
    const Programs programs = random_programs(random);
    ASSERT_EQ(broken_structure(programs), nullptr);
    const CallRetries retries{.most = static_cast<std::int64_t>(random.below(3)),
                              .delay = Duration::nanos(static_cast<std::int64_t>(random.below(9)))};
    const int trouble = kNoTrouble + static_cast<int>(random.below(3));
    const std::int64_t stop =
        random.below(4) == 0 ? static_cast<std::int64_t>(random.below(80)) : 1'000'000;
    const Played found = play_source(programs, retries, seed, trouble, stop);
    expect_same(found, Interpreter(programs, retries, seed, trouble).play(stop));
    if (HasFailure()) break;
    for (const SessionRecord& session : found.records.sessions) {
      if (session.complete()) ++complete;
      if (session.failed > 0) ++failed;
      if (session.end == Instant::never()) ++cut_short;
    }
    for (const CallRecord& call : found.records.calls) retried += call.attempts > 1 ? 1 : 0;
  }
  // Enough of everything came up.
  EXPECT_GT(complete, 4000U);
  EXPECT_GT(failed, 300U);
  EXPECT_GT(retried, 300U);
  EXPECT_GT(cut_short, 300U);
}

TEST(ProgramSource, ASessionWhoseAnswersTakeNoTimeLastsAsLongAsItsGaps) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "programs");
    const Programs programs = random_programs(random);
    const Played found = play_source(programs, {}, seed, kNothingTakesTime, 1'000'000);
    for (const SessionRecord& session : found.records.sessions) {
      ASSERT_TRUE(session.complete());
      EXPECT_EQ(session.end - session.begin, session.gaps);
    }
  }
}

}  // namespace
}  // namespace inferscale
