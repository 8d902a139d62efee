// The figures of agent programs: worked by hand, and counted again the simple way.

#include "metrics/session_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

// Records that are put together call by call.
struct SampleRecords {
  ProgramRecords records;
  std::vector<Outcome> outcomes;

  void session(double begin_s, double end_s) {
    records.sessions.push_back({.begin = at(begin_s), .end = at(end_s)});
  }
  CallRecord& call(std::uint32_t chain, std::uint32_t turn, CallStatus status, double ready_s = 0) {
    SessionRecord& session = records.sessions.back();
    ++session.calls;
    if (status == CallStatus::kFinished) ++session.finished;
    if (status == CallStatus::kFailed) ++session.failed;
    session.chains = std::max(session.chains, chain + 1);
    CallRecord record{.session = static_cast<std::uint32_t>(records.sessions.size() - 1),
                      .chain = chain,
                      .turn = turn,
                      .prompt_tokens = 100,
                      .output_tokens = 10,
                      .status = status};
    if (status != CallStatus::kNotReached) record.ready = at(ready_s);
    records.calls.push_back(record);
    return records.calls.back();
  }
  // A finished call, in seconds after it was ready.
  CallRecord& finished(std::uint32_t chain, std::uint32_t turn, double ready_s, double start,
                       double first_token, double finish) {
    CallRecord& record = call(chain, turn, CallStatus::kFinished, ready_s);
    attempt(record, OutcomeStatus::kFinished, ready_s);
    Outcome& outcome = outcomes.back();
    outcome.start = at(ready_s + start);
    outcome.first_token = at(ready_s + first_token);
    outcome.finish = at(ready_s + finish);
    return record;
  }
  void attempt(CallRecord& record, OutcomeStatus status, double arrival_s) {
    ++record.attempts;
    record.request = static_cast<RequestId>(outcomes.size());
    Outcome outcome{.arrival = at(arrival_s), .status = status};
    outcome.prompt_tokens = record.prompt_tokens;
    outcome.output_tokens = record.output_tokens;
    outcomes.push_back(outcome);
  }
  SessionSummary summary(const SessionFacts& facts) const {
    return summarize_sessions(records, outcomes, facts);
  }
};

// Two turns with a gap of 4 s; a session that fails at its second turn; one that still waits for
// its first; one that would begin after the end.
SampleRecords four_sessions() {
  SampleRecords run;
  run.session(0, 7);
  run.finished(0, 0, 0, 0.5, 1, 2).alone_ns = 1e9;
  CallRecord& second = run.finished(0, 1, 6, 0, 0.25, 1);
  second.history_tokens = 80;
  second.alone_ns = 0.5e9;
  second.recompute_ns = 0.125e9;
  run.outcomes.back().cached_tokens = 64;

  run.session(1, 5);
  run.finished(1, 0, 1, 0, 0.5, 1).alone_ns = 1e9;
  run.attempt(run.call(1, 1, CallStatus::kFailed, 4), OutcomeStatus::kRefused, 5);
  run.records.calls.back().attempts = 3;
  run.call(1, 2, CallStatus::kNotReached);

  run.session(3, 0);
  run.records.sessions.back().end = Instant::never();
  run.attempt(run.call(2, 0, CallStatus::kUnfinished, 3), OutcomeStatus::kUnfinished, 3);
  run.call(2, 1, CallStatus::kNotReached);

  run.session(11, 0);
  run.records.sessions.back().end = Instant::never();
  run.call(3, 0, CallStatus::kNotReached);
  return run;
}

TEST(SessionSummary, CountsEndingsOfSessionsThatBegan) {
  const SessionSummary s = four_sessions().summary({.end = at(10)});
  EXPECT_EQ(s.sessions, 3);
  EXPECT_EQ(s.complete, 1);
  EXPECT_EQ(s.failed, 1);
  EXPECT_EQ(s.unfinished, 1);
  EXPECT_EQ(s.turns, 7);
  EXPECT_EQ(s.turns_finished, 3);
  EXPECT_EQ(s.turns_failed, 1);
  EXPECT_EQ(s.turns_unreached, 2);
  EXPECT_EQ(s.turns_unfinished(), 1);
  EXPECT_EQ(s.attempts, 7);
}

TEST(SessionSummary, LatenciesAreOfFinishedTurnsAndCompleteSessions) {
  const SessionSummary s = four_sessions().summary({.end = at(10)});
  EXPECT_EQ(s.turn_ttft_ms.count, 3);
  EXPECT_DOUBLE_EQ(s.turn_ttft_ms.mean, 1750.0 / 3);
  EXPECT_DOUBLE_EQ(s.turn_ttft_ms.p50, 500);
  EXPECT_DOUBLE_EQ(s.turn_e2e_ms.max, 2000);
  EXPECT_EQ(s.makespan_s.count, 1);
  EXPECT_DOUBLE_EQ(s.makespan_s.p95, 7);
  // 3 s of turns, 1.5 s alone; the gap is not part of it.
  EXPECT_EQ(s.stretch.count, 1);
  EXPECT_DOUBLE_EQ(s.stretch.p50, 2);
  EXPECT_DOUBLE_EQ(*s.jain, 1);
  EXPECT_EQ(s.starved, 0);
  EXPECT_DOUBLE_EQ(s.queue_s_max, 7);  // the turn that still waits at the end
}

TEST(SessionSummary, AttainmentIsOfAllTurnsAndSessionsThatBegan) {
  SessionFacts facts{.end = at(10)};
  facts.slo.ttft = Duration::from_millis(500);
  facts.makespan = Duration::from_seconds(7);
  const SessionSummary s = four_sessions().summary(facts);
  EXPECT_EQ(s.turns_met, 2);
  EXPECT_DOUBLE_EQ(s.turn_attainment, 2.0 / 7);
  EXPECT_EQ(s.sessions_met, 1);
  EXPECT_DOUBLE_EQ(s.session_attainment, 1.0 / 3);
  facts.makespan = Duration::from_seconds(6.999);
  EXPECT_EQ(four_sessions().summary(facts).sessions_met, 0);
}

TEST(SessionSummary, ARetriedTurnCountsFromWhenItWasReady) {
  SampleRecords run;
  run.session(0, 9);
  CallRecord& call = run.finished(0, 0, 6, 0, 0.5, 3);
  call.ready = at(1);  // refused at 1, and at 6 the second attempt
  call.attempts = 2;
  call.alone_ns = 2e9;
  SessionFacts facts{.end = at(9)};
  facts.slo.ttft = Duration::from_seconds(5);
  facts.slo.e2e = Duration::from_seconds(8);
  const SessionSummary s = run.summary(facts);
  EXPECT_DOUBLE_EQ(s.turn_ttft_ms.mean, 5500);
  EXPECT_DOUBLE_EQ(s.turn_e2e_ms.mean, 8000);
  EXPECT_DOUBLE_EQ(s.stretch.mean, 4);
  EXPECT_DOUBLE_EQ(s.queue_s_max, 5);
  EXPECT_EQ(s.turns_met, 0);  // its TTFT alone is over the limit
  facts.slo.ttft = Duration::from_seconds(5.5);
  EXPECT_EQ(run.summary(facts).turns_met, 1);
}

TEST(SessionSummary, HistoryIsFoundFromTheStartOfThePrompt) {
  SampleRecords run;
  run.session(0, 9);
  run.finished(0, 0, 0, 0, 1, 1);
  run.outcomes.back().cached_tokens = 32;  // a system prompt: no history yet
  const auto turn = [&](std::uint32_t number, std::uint32_t cached, std::uint32_t replica) {
    run.finished(0, number, number, 0, 1, 1).history_tokens = 70;
    run.outcomes.back().cached_tokens = cached;
    run.outcomes.back().replica = replica;
  };
  turn(1, 64, 0);
  turn(2, 0, 1);
  turn(3, 96, 1);  // more than its history: what others left
  const SessionSummary s = run.summary({.end = at(9)});
  EXPECT_EQ(s.turns_with_history, 3);
  EXPECT_EQ(s.turns_hit, 2);
  EXPECT_EQ(s.history_tokens, 210);
  EXPECT_EQ(s.history_recomputed, 6 + 70 + 0);
  EXPECT_DOUBLE_EQ(*s.history_hit_rate, 134.0 / 210);
  EXPECT_DOUBLE_EQ(*s.prompt_hit_rate, 192.0 / 400);
  EXPECT_DOUBLE_EQ(*s.locality, 2.0 / 3);
}

TEST(SessionSummary, WhatDoesNotExistIsNotZero) {
  SampleRecords run;
  const SessionSummary none = run.summary({});
  EXPECT_EQ(none.sessions, 0);
  EXPECT_EQ(none.history_hit_rate, std::nullopt);
  EXPECT_EQ(none.prompt_hit_rate, std::nullopt);
  EXPECT_EQ(none.locality, std::nullopt);
  EXPECT_EQ(none.jain, std::nullopt);
  EXPECT_EQ(none.turn_attainment, 0);
  run.session(0, 1);
  run.finished(0, 0, 0, 0, 1, 1);  // nobody reckoned its time alone
  const SessionSummary one = run.summary({.end = at(1)});
  EXPECT_EQ(one.complete, 1);
  EXPECT_EQ(one.stretch.count, 0);
  EXPECT_EQ(one.jain, std::nullopt);
  EXPECT_EQ(one.history_hit_rate, std::nullopt);
  EXPECT_EQ(one.prompt_hit_rate, 0);
}

TEST(SessionSummary, FairnessIsOfProgress) {
  SampleRecords run;
  // Stretches 1, 2, 2, 2, 2, 21: progress 1, 4 x 1/2, 1/21; the median is 2.
  for (const double stretch : {1, 2, 2, 2, 2, 21}) {
    const auto chain = static_cast<std::uint32_t>(run.records.sessions.size());
    run.session(0, stretch);
    run.finished(chain, 0, 0, 0, stretch, stretch).alone_ns = 1e9;
  }
  const SessionSummary s = run.summary({.end = at(21)});
  const double sum = 3 + 1.0 / 21;
  EXPECT_NEAR(*s.jain, sum * sum / (6 * (2 + 1.0 / 441)), 1e-12);
  EXPECT_EQ(s.starved, 1);
}

TEST(SessionSummary, KvIsInWholeGigabytes) {
  SessionFacts facts{.end = at(20), .kv_bytes_per_token = 100'000};
  facts.retention = {.idle_token_ns = 1e9 * 3000 * 10,      // 3,000 tokens for 10 s
                     .resident_token_ns = 1e9 * 5000 * 12,  // 5,000 for 12 s
                     .resident_peak = 8000,
                     .restore_ns = 0.25e9,
                     .exposed_ns = 0.5e9,
                     .host_peak = 40'000};
  const SessionSummary s = SampleRecords().summary(facts);
  EXPECT_DOUBLE_EQ(s.idle_gb_seconds, 3);
  EXPECT_DOUBLE_EQ(s.hbm_gb_seconds, 6);
  EXPECT_DOUBLE_EQ(s.kv_gb_mean, 0.3);
  EXPECT_DOUBLE_EQ(s.kv_gb_peak_replica, 0.8);
  EXPECT_DOUBLE_EQ(s.host_gb_peak, 4);
  EXPECT_DOUBLE_EQ(s.transfer_s, 0.75);
}

TEST(SessionSummary, AHistoryThatNoTurnLeftIsAProgrammersError) {
  SampleRecords run;
  run.session(0, 1);
  run.finished(0, 0, 0, 0, 1, 1).history_tokens = 5;
  EXPECT_DEATH(run.summary({.end = at(1)}), "without a turn before");
  run.records.sessions.back().calls = 2;
  EXPECT_DEATH(run.summary({.end = at(1)}), "nobody recorded");
}

// --- counted again, figure by figure, from random records ---

double sorted_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()) - 1e-9));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

CallStatus drawn_status(RandomStream& random, bool reached) {
  if (!reached) return CallStatus::kNotReached;
  const std::uint64_t die = random.below(20);
  return die == 0   ? CallStatus::kFailed
         : die == 1 ? CallStatus::kUnfinished
                    : CallStatus::kFinished;
}

SampleRecords random_run(std::uint64_t seed) {
  RandomStream random(seed, "records");
  SampleRecords run;
  std::uint32_t chain = 0;
  for (std::uint64_t sessions = 1 + random.below(40); sessions > 0; --sessions) {
    double now = random.uniform() * 100;
    run.session(now, 0);
    bool reached = true;
    for (std::uint64_t chains = 1 + random.below(3); chains > 0; --chains, ++chain) {
      const auto turns = static_cast<std::uint32_t>(1 + random.below(6));
      for (std::uint32_t turn = 0; turn < turns; ++turn) {
        const CallStatus status = drawn_status(random, reached);
        if (status == CallStatus::kFinished) {
          const double queue = random.uniform() * 3;
          CallRecord& call = run.finished(chain, turn, now, queue, queue + random.uniform(),
                                          queue + 1 + random.uniform());
          call.alone_ns = 1e6 + random.uniform() * 2e9;
          call.recompute_ns = random.uniform() * 1e9;
          if (turn > 0) call.history_tokens = static_cast<std::uint32_t>(1 + random.below(99));
          run.outcomes.back().cached_tokens = static_cast<std::uint32_t>(random.below(100));
          run.outcomes.back().replica = static_cast<std::uint32_t>(random.below(2));
          now = run.outcomes.back().finish.seconds() + random.uniform();
        } else {
          CallRecord& call = run.call(chain, turn, status, now);
          if (status == CallStatus::kFailed) run.attempt(call, OutcomeStatus::kRefused, now);
          if (status == CallStatus::kUnfinished) run.attempt(call, OutcomeStatus::kUnfinished, now);
          reached = false;
        }
      }
    }
    run.records.sessions.back().end = at(now);
  }
  return run;
}

TEST(SessionSummary, AgreesWithASimpleCountOfTurns) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SampleRecords run = random_run(seed);
    SessionFacts facts{.end = at(1000)};
    facts.slo.ttft = Duration::from_seconds(2);
    const SessionSummary s = run.summary(facts);
    std::vector<double> ttft;
    std::int64_t recomputed = 0;
    std::int64_t history = 0;
    std::int64_t local = 0;
    std::int64_t with_history = 0;
    for (const CallRecord& call : run.records.calls) {
      if (call.status != CallStatus::kFinished) continue;
      const Outcome& outcome = run.outcomes[call.request];
      ttft.push_back((outcome.first_token - call.ready).millis());
      if (call.history_tokens == 0) continue;
      ++with_history;
      history += call.history_tokens;
      if (outcome.cached_tokens < call.history_tokens) {
        recomputed += call.history_tokens - outcome.cached_tokens;
      }
      for (const CallRecord& other : run.records.calls) {
        if (other.chain != call.chain || other.turn + 1 != call.turn) continue;
        local += run.outcomes[other.request].replica == outcome.replica ? 1 : 0;
      }
    }
    ASSERT_EQ(s.turns, std::ssize(run.records.calls)) << seed;
    ASSERT_EQ(s.turns_finished, std::ssize(ttft));
    ASSERT_EQ(s.turns_met,
              std::count_if(ttft.begin(), ttft.end(), [](double ms) { return ms <= 2000; }));
    ASSERT_EQ(s.history_recomputed, recomputed);
    ASSERT_EQ(s.history_tokens, history);
    if (with_history > 0) {
      ASSERT_DOUBLE_EQ(*s.locality, static_cast<double>(local) / static_cast<double>(with_history));
    }
    if (ttft.empty()) continue;
    ASSERT_DOUBLE_EQ(s.turn_ttft_ms.p95, sorted_quantile(ttft, 0.95));
    ASSERT_DOUBLE_EQ(s.turn_ttft_ms.max, sorted_quantile(ttft, 1));
  }
}

// Stretches of the sessions all of whose calls finished.
std::vector<double> stretches_of(const SampleRecords& run) {
  std::vector<double> stretches;
  for (std::uint32_t index = 0; index < run.records.sessions.size(); ++index) {
    double taken_ns = 0;
    double alone_ns = 0;
    bool complete = true;
    for (const CallRecord& call : run.records.calls) {
      if (call.session != index) continue;
      complete = complete && call.status == CallStatus::kFinished;
      if (!complete) continue;
      taken_ns += static_cast<double>((run.outcomes[call.request].finish - call.ready).ns());
      alone_ns += call.alone_ns;
    }
    if (complete) stretches.push_back(taken_ns / alone_ns);
  }
  return stretches;
}

TEST(SessionSummary, AgreesWithASimpleCountOfSessions) {
  std::int64_t starved = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const SampleRecords run = random_run(seed);
    const SessionSummary s = run.summary({.end = at(1000)});
    const std::vector<double> stretches = stretches_of(run);
    ASSERT_EQ(s.sessions, std::ssize(run.records.sessions)) << seed;
    ASSERT_EQ(s.sessions, s.complete + s.failed + s.unfinished);
    ASSERT_EQ(s.complete, std::ssize(stretches));
    if (stretches.empty()) continue;
    const double median = sorted_quantile(stretches, 0.5);
    ASSERT_NEAR(s.stretch.p50, median, 1e-9);
    ASSERT_EQ(s.starved, std::count_if(stretches.begin(), stretches.end(),
                                       [&](double stretch) { return stretch > 10 * median; }));
    starved += s.starved;
    ASSERT_GE(*s.jain, 1.0 / static_cast<double>(stretches.size()) - 1e-12);
    ASSERT_LE(*s.jain, 1 + 1e-12);
  }
  EXPECT_GT(starved, 0);  // the records have some
}

// More turns than are copied for their percentiles.
TEST(SessionSummary, ManyTurnsAreReadAsAStream) {
  SampleRecords run;
  run.session(0, 1);
  std::vector<double> ttft;
  RandomStream random(3, "many");
  for (std::uint32_t turn = 0; turn < 30'000; ++turn) {
    if (random.below(3) == 0) {
      run.session(0, 1);
      run.attempt(run.call(turn, 0, CallStatus::kFailed), OutcomeStatus::kRefused, 0);
      continue;
    }
    const double first = random.uniform();
    run.finished(turn, 0, 1, 0, first, first);
    ttft.push_back((run.outcomes.back().first_token - at(1)).millis());
  }
  const SessionSummary s = run.summary({.end = at(10)});
  EXPECT_EQ(s.turn_ttft_ms.count, std::ssize(ttft));
  EXPECT_DOUBLE_EQ(s.turn_ttft_ms.p99, sorted_quantile(ttft, 0.99));
  EXPECT_DOUBLE_EQ(s.turn_ttft_ms.p50, sorted_quantile(ttft, 0.5));
}

}  // namespace
}  // namespace inferscale
