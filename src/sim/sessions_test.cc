// Sessions in a fleet: what arrives follows from what ends.

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/fleet_test_support.h"
#include "workload/programs/program_source.h"

namespace inferscale {
namespace {

struct Call {
  std::uint32_t prompt;
  std::uint32_t output;
  std::int64_t gap_us;
};

// A session of one chain each; the first begins at 0, each later one `apart_us` after.
Programs chains_of(const std::vector<std::vector<Call>>& sessions, std::int64_t apart_us = 0) {
  Programs programs;
  for (std::uint32_t s = 0; s < sessions.size(); ++s) {
    programs.sessions.push_back({.begin = at_us(apart_us * s), .first_chain = s, .chains = 1});
    programs.chains.push_back({.session = s,
                               .first_turn = static_cast<std::uint32_t>(programs.turns.size()),
                               .turns = static_cast<std::uint32_t>(sessions[s].size())});
    std::uint32_t history = 0;
    for (std::size_t k = 0; k < sessions[s].size(); ++k) {
      const Call& call = sessions[s][k];
      const bool last = k + 1 == sessions[s].size();
      ProgramTurn turn{.prompt_tokens = call.prompt, .output_tokens = call.output};
      turn.call = {
          .chain = s, .history_tokens = std::min(history, call.prompt), .ends_chain = last};
      turn.gap = last ? Duration() : micros(call.gap_us);
      history = call.prompt + call.output;
      programs.turns.push_back(turn);
    }
  }
  return programs;
}

SimulationResult run_programs(const FleetOptions& fleet, const Programs& programs,
                              const CallRetries& retries = {}) {
  const std::unique_ptr<ReactiveSource> source = make_program_source(programs, retries);
  SimulationResult result = simulate_fleet(fleet, {.verify = true}, *source, {});
  EXPECT_TRUE(result.violations.empty()) << result.violations.front();
  return result;
}

TEST(SessionsInAFleet, ATurnComesItsGapAfterTheAnswer) {
  // Steps of 1 ms: 3 output tokens take 3 ms. 0..3, gap 5, 8..10.
  const SimulationResult result =
      run_programs(fleet_of(1, RouterPolicy::kLeastLoad), chains_of({{{10, 3, 5000}, {20, 2, 0}}}));
  ASSERT_EQ(result.outcomes.size(), 2U);
  EXPECT_EQ(result.outcomes[0].finish, at_us(3000));
  EXPECT_EQ(result.outcomes[1].arrival, at_us(8000));
  EXPECT_EQ(result.outcomes[1].finish, at_us(10'000));
  EXPECT_EQ(result.end, at_us(10'000));
  ASSERT_TRUE(result.programs);
  EXPECT_TRUE(result.programs->sessions[0].complete());
  EXPECT_EQ(result.programs->sessions[0].end, at_us(10'000));
  EXPECT_EQ(result.programs->sessions[0].gaps, micros(5000));
}

TEST(SessionsInAFleet, AnEndMayBringAboutAnEarlierArrivalThanWasKnown) {
  // The second session begins at 20 ms, and was known to be next; the first one's turn is at 3.1.
  const SimulationResult result =
      run_programs(fleet_of(1, RouterPolicy::kLeastLoad),
                   chains_of({{{10, 3, 100}, {10, 1, 0}}, {{10, 1, 0}}}, 20'000));
  ASSERT_EQ(result.outcomes.size(), 3U);
  EXPECT_EQ(result.outcomes[1].arrival, at_us(3100));
  EXPECT_EQ(result.outcomes[2].arrival, at_us(20'000));
}

TEST(SessionsInAFleet, WhatComesWithoutAGapArrivesRightBehindTheInstantOfTheEnd) {
  const SimulationResult result = run_programs(fleet_of(1, RouterPolicy::kLeastLoad),
                                               chains_of({{{10, 3, 0}, {10, 1, 0}}, {{10, 9, 0}}}));
  ASSERT_EQ(result.outcomes.size(), 3U);
  EXPECT_EQ(result.outcomes[2].arrival, at_us(3000) + Duration::nanos(1));
  // The other sequence's step from 3 ms on has begun: it joins at the next boundary.
  EXPECT_EQ(result.outcomes[2].start, at_us(4000));
}

TEST(SessionsInAFleet, ARefusedTurnIsTriedAgainAndItsSessionGoesOn) {
  FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  fleet.groups[0].replica.max_num_seqs = 1;
  fleet.groups[0].replica.max_queued = 1;
  // From 0 on one runs, to 4 ms; the second waits from 0.1 on, and runs to 8. The third is refused
  // at 0.2 and 3.2, and waits from 6.2 on.
  const SimulationResult result =
      run_programs(fleet, chains_of({{{10, 4, 0}}, {{10, 4, 0}}, {{10, 1, 0}}}, 100),
                   {.most = 2, .delay = micros(3000)});
  ASSERT_TRUE(result.programs);
  const CallRecord& call = result.programs->calls[2];
  EXPECT_EQ(call.attempts, 3U);
  EXPECT_EQ(call.status, CallStatus::kFinished);
  EXPECT_EQ(call.ready, at_us(200));
  EXPECT_EQ(result.outcomes[call.request].arrival, at_us(6200));
  EXPECT_EQ(result.outcomes.size(), 5U);
}

TEST(SessionsInAFleet, ACallThatCanNeverFitEndsItsSession) {
  const SimulationResult result = run_programs(fleet_of(1, RouterPolicy::kLeastLoad),
                                               chains_of({{{10, 3, 0}, {5000, 2, 0}, {10, 2, 0}}}));
  ASSERT_TRUE(result.programs);
  EXPECT_EQ(result.programs->calls[1].status, CallStatus::kFailed);
  EXPECT_EQ(result.programs->calls[2].status, CallStatus::kNotReached);
  EXPECT_FALSE(result.programs->sessions[0].complete());
  EXPECT_EQ(result.programs->sessions[0].failed, 1U);
}

TEST(SessionsInAFleet, TimesAloneAreThoseOfTheLatencyModel) {
  const SimulationResult result =
      run_programs(fleet_of(1, RouterPolicy::kLeastLoad), chains_of({{{10, 3, 5000}, {40, 2, 0}}}));
  ASSERT_TRUE(result.programs);
  EXPECT_DOUBLE_EQ(result.programs->calls[0].alone_ns, 3e6);
  EXPECT_DOUBLE_EQ(result.programs->calls[1].alone_ns, 2e6);
  // Steps cost the same whatever is in them.
  EXPECT_DOUBLE_EQ(result.programs->calls[1].recompute_ns, 0);
}

TEST(SessionsInAFleet, RecomputedHistoryIsWhatTheStepsOfItTake) {
  const auto latency = make_linear({.step_us = 1000, .prefill_us_per_token = 10}, {});
  FleetOptions fleet = fleet_of(1, RouterPolicy::kLeastLoad);
  fleet.groups[0].latency = latency.get();
  const SimulationResult result = run_programs(fleet, chains_of({{{10, 7, 5000}, {40, 2, 0}}}));
  ASSERT_TRUE(result.programs);
  // Of 17 tokens of history 16 are whole blocks of 8; without a cache they are computed again.
  EXPECT_DOUBLE_EQ(result.programs->calls[1].recompute_ns, 16 * 10'000.0);
  // Alone with its history: a step for 24 tokens, and one more token.
  EXPECT_DOUBLE_EQ(result.programs->calls[1].alone_ns, 1e6 + 24 * 10'000.0 + 1e6);
}

TEST(SessionsInAFleet, AffinityKeepsASessionWhereItWas) {
  const Programs programs =
      chains_of({{{10, 2, 900}, {10, 2, 0}}, {{10, 2, 900}, {10, 2, 0}}, {{10, 2, 0}}});
  const SimulationResult result =
      run_programs(fleet_of(2, RouterPolicy::kSessionAffinity), programs);
  ASSERT_TRUE(result.programs);
  for (const std::uint32_t first : {0U, 2U}) {
    const CallRecord& one = result.programs->calls[first];
    const CallRecord& other = result.programs->calls[first + 1];
    EXPECT_EQ(result.outcomes[one.request].replica, result.outcomes[other.request].replica);
  }
}

}  // namespace
}  // namespace inferscale
