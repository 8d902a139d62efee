// Sweeps over made-up records: which points are on the frontier by brute force, which is
// recommended, what is noted.

#include "study/agents/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "study/agents/sweep_json.h"
#include "study/agents/sweep_test_support.h"

namespace inferscale {
namespace {

// Points of a ttl sweep 0, 1, 2, ... s get these records.
SweepResult ttl_sweep_of(const std::vector<RunResult>& records, const std::string& more = "") {
  std::string values;
  for (std::size_t i = 0; i < records.size(); ++i) {
    values += (i == 0 ? "" : ", ") + std::to_string(i);
  }
  const Scenario scenario = agents_with("study: {agents: {ttl_s: [" + values + "]" + more + "}}\n");
  std::size_t next = 0;
  return sweep_by(SweepKind::kTtl, scenario, [&](const RunRequest&) { return records[next++]; });
}

RunResult of_ttl(double ttft_ms, double kv_gb, double complete = 10) {
  return swept({{Metric::kTurnTtftP95, ttft_ms},
                {Metric::kKvGbMean, kv_gb},
                {Metric::kHistoryHitRate, 0.5},
                {Metric::kSessionsComplete, complete}});
}

TEST(Sweep, PointsMeetTheSameSeeds) {
  const Scenario scenario = agents_with("repeats: 3\nstudy: {agents: {ttl_s: [0, 60, null]}}\n");
  FakeExecutor executor([](const RunRequest&) { return swept({}); });
  ASSERT_TRUE(run_sweep(SweepKind::kTtl, scenario, executor));
  std::map<std::string, std::vector<std::uint64_t>> seeds;
  for (const RunRequest& request : executor.asked) {
    seeds[setting_text(request.settings.back())].push_back(request.seed);
  }
  ASSERT_EQ(seeds.size(), 3u);
  for (const auto& [point, own] : seeds) EXPECT_EQ(own, (std::vector<std::uint64_t>{7, 8, 9}));
}

TEST(Sweep, FiguresAreMeansOverTheRepetitions) {
  const Scenario scenario = agents_with("repeats: 3\nstudy: {agents: {ttl_s: [60]}}\n");
  const SweepResult sweep = sweep_by(SweepKind::kTtl, scenario, [](const RunRequest& request) {
    return of_ttl(10 + 3 * static_cast<double>(request.seed - 7), 4);  // 10, 13, 16
  });
  const Spread ttft = *sweep.rows[0][Metric::kTurnTtftP95];
  EXPECT_EQ(ttft.mean, 13);
  EXPECT_EQ(ttft.sd, 3);
  EXPECT_EQ(ttft.min, 10);
  EXPECT_EQ(ttft.max, 16);
  EXPECT_EQ(sweep.rows[0][Metric::kTurnE2eP95], std::nullopt);
}

TEST(Sweep, TheFrontierIsWhatNoOtherPointDominates) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    RandomStream random(round, "records");
    std::vector<RunResult> records;
    for (int i = 0; i < 30; ++i) {
      records.push_back(
          of_ttl(static_cast<double>(random.below(9)), static_cast<double>(random.below(9))));
      if (i % 7 == 3) records.back().figures.set(Metric::kTurnTtftP95, {});
    }
    const SweepResult sweep = ttl_sweep_of(records);
    const auto dominates = [](const SweepRow& a, const SweepRow& b) {
      if (!a[Metric::kTurnTtftP95]) return false;
      const double later = *a.mean(Metric::kTurnTtftP95) - *b.mean(Metric::kTurnTtftP95);
      const double more = *a.mean(Metric::kKvGbMean) - *b.mean(Metric::kKvGbMean);
      return later <= 0 && more <= 0 && (later < 0 || more < 0);
    };
    for (const SweepRow& row : sweep.rows) {
      const bool beaten = !row[Metric::kTurnTtftP95] ||
                          std::any_of(sweep.rows.begin(), sweep.rows.end(),
                                      [&](const SweepRow& other) { return dominates(other, row); });
      EXPECT_EQ(row.on_frontier, !beaten) << round << " " << row.point.name;
    }
  }
}

TEST(Sweep, OfLocalityTheFoundHistoryCounts) {
  const Scenario scenario =
      agents_with("study: {agents: {affinity_slack_ms: [100, 200]}}\n", "  replicas: 2\n");
  const std::vector<RunResult> records = {
      // least_load, two slacks, session_affinity
      swept({{Metric::kTurnTtftP95, 300}, {Metric::kHistoryHitRate, 0.2}}),
      swept({{Metric::kTurnTtftP95, 200}, {Metric::kHistoryHitRate, 0.7}}),
      swept({{Metric::kTurnTtftP95, 208}, {Metric::kHistoryHitRate, 0.9}}),
      swept({{Metric::kTurnTtftP95, 600}, {Metric::kHistoryHitRate, 0.95}})};
  std::size_t next = 0;
  const SweepResult sweep =
      sweep_by(SweepKind::kAffinity, scenario, [&](const RunRequest&) { return records[next++]; });
  std::vector<bool> on;
  for (const SweepRow& row : sweep.rows) on.push_back(row.on_frontier);
  EXPECT_EQ(on, (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(sweep.least_ttft, 1u);
  EXPECT_EQ(sweep.recommended, 2u);  // within 5 % of 200, and more is found
  EXPECT_EQ(sweep.within_slo, 2u);   // of those within 500 ms
}

TEST(Sweep, TheLeastResidencyThatIsAsFastIsRecommended) {
  // Within 5 % of 100 are 105 and 103: the first takes least.
  const SweepResult sweep = ttl_sweep_of(
      {of_ttl(900, 1), of_ttl(490, 2), of_ttl(105, 4), of_ttl(103, 8), of_ttl(100, 16)});
  EXPECT_EQ(sweep.least_ttft, 4u);
  EXPECT_EQ(sweep.recommended, 2u);
  EXPECT_EQ(sweep.within_slo, 1u);  // 490 ms
}

TEST(Sweep, TheToleranceIsConfigured) {
  const std::vector<RunResult> records = {of_ttl(120, 1), of_ttl(104, 2), of_ttl(100, 3)};
  EXPECT_EQ(ttl_sweep_of(records, ", tolerance: 0.2").recommended, 0u);
  EXPECT_EQ(ttl_sweep_of(records, ", tolerance: 0.05").recommended, 1u);
  EXPECT_EQ(ttl_sweep_of(records, ", tolerance: 0").recommended, 2u);
}

TEST(Sweep, WhoLeavesSessionsIncompleteIsNotRecommendedForItsLatency) {
  const SweepResult sweep =
      ttl_sweep_of({of_ttl(10, 1, 4), of_ttl(300, 2), of_ttl(200, 3), of_ttl(20, 1, 9)});
  EXPECT_EQ(sweep.least_ttft, 2u);
  EXPECT_EQ(sweep.recommended, 2u);
  EXPECT_EQ(sweep.within_slo, 1u);
  EXPECT_TRUE(sweep.rows[0].on_frontier) << "by the figures alone nothing dominates it";
}

TEST(Sweep, WhoMeetsTheSloOfFewerTurnsIsNotRecommendedForItsP95) {
  const auto meeting = [](double ttft_ms, double kv_gb, double met) {
    RunResult record = of_ttl(ttft_ms, kv_gb);
    record.figures.set(Metric::kTurnAttainment, met);
    return record;
  };
  const SweepResult sweep =
      ttl_sweep_of({meeting(700, 1, 0.3), meeting(800, 3, 0.78), meeting(900, 2, 0.8)});
  EXPECT_EQ(sweep.least_ttft, 1u);
  EXPECT_EQ(sweep.recommended, 1u);
}

TEST(Sweep, WithoutAFinishedTurnThereIsNothingToRecommend) {
  RunResult nothing = swept({{Metric::kSessionsComplete, 0}, {Metric::kTurnsFailed, 10}});
  const SweepResult sweep = ttl_sweep_of({nothing, nothing});
  EXPECT_EQ(sweep.least_ttft, std::nullopt);
  EXPECT_EQ(sweep.recommended, std::nullopt);
  EXPECT_EQ(sweep.within_slo, std::nullopt);
}

TEST(Sweep, WhatCouldNotBeSimulatedIsListedWithItsReason) {
  const SweepResult sweep = ttl_sweep_of(
      {of_ttl(100, 2), RunResult{.figures = {}, .failure = "does not fit"}, of_ttl(90, 3)});
  EXPECT_EQ(sweep.rows[1].failure, "does not fit");
  EXPECT_FALSE(sweep.rows[1].on_frontier);
  const std::string json = sweep_json(sweep).text();
  EXPECT_NE(json.find(R"("points_simulated":2,"points_not_simulated":1)"), std::string::npos);
  EXPECT_NE(json.find(R"("failure":"does not fit")"), std::string::npos);
}

// Budgets 0.5, 0.75, 1, 1.25 of a peak of 1,000 tokens get these records, the reference the first.
SweepResult memory_stress_of(const std::vector<RunResult>& records) {
  const Scenario scenario =
      agents_with("study: {agents: {memory_budgets: [0.5, 0.75, 1, 1.25]}}\n");
  std::size_t next = 0;
  return sweep_by(SweepKind::kMemory, scenario, [&](const RunRequest&) {
    RunResult record = records[next++];
    record.figures.set(Metric::kKvTokensPeakReplica, 1000);
    return record;
  });
}

RunResult of_memory(double ttft_ms, double attainment, double failed = 0, double evicted = 0) {
  return swept({{Metric::kTurnTtftP95, ttft_ms},
                {Metric::kTurnAttainment, attainment},
                {Metric::kTurnsFailed, failed},
                {Metric::kHistoryHitRate, 0.5},
                {Metric::kEvictedPressureTokens, evicted}});
}

TEST(MemoryStress, TheLeastBudgetThatServesAsWellAsNoLimitIsRecommended) {
  const RunResult good = of_memory(100, 0.9);
  EXPECT_EQ(
      memory_stress_of({good, of_memory(106, 0.9), of_memory(104, 0.9), good, good}).recommended,
      1u);
  EXPECT_EQ(memory_stress_of({good, good, of_memory(100, 0.8), good, good}).recommended, 2u)
      << "one below a budget that is not as good was lucky";
  EXPECT_EQ(memory_stress_of({good, of_memory(100, 0.9, 1), good, good, good}).recommended, 1u);
  EXPECT_EQ(memory_stress_of({good, good, good, good, of_memory(200, 0.9)}).recommended,
            std::nullopt);
  const RunResult none{.figures = {}, .failure = "more than there can be"};
  EXPECT_EQ(memory_stress_of({good, of_memory(200, 0.9), good, good, none}).recommended, 1u)
      << "what could not be simulated says nothing";
}

TEST(MemoryStress, EvictionsWhereAllFitsAreNoted) {
  const RunResult good = of_memory(100, 0.9);
  const auto notes_of = [](const std::vector<RunResult>& records) {
    return memory_stress_of(records).notes;
  };
  EXPECT_TRUE(notes_of({good, of_memory(300, 0.5, 0, 999), good, good, good}).empty());
  const std::vector<std::string> fits =
      notes_of({good, good, good, of_memory(100, 0.9, 0, 320), good});
  ASSERT_EQ(fits.size(), 1u);
  EXPECT_TRUE(fits[0].starts_with("At 1 x peak 320 tokens were evicted")) << fits[0];
  const std::vector<std::string> unlimited =
      notes_of({of_memory(100, 0.9, 0, 16), of_memory(300, 0.5), good, good, good});
  ASSERT_EQ(unlimited.size(), 1u);
  EXPECT_TRUE(unlimited[0].starts_with("Even in a cache of 1000000000000 tokens, 16 tokens were"))
      << unlimited[0];
}

TEST(MemoryStress, WithoutAReferenceThereAreNoBudgets) {
  const Scenario scenario = agents_with();
  FakeExecutor failing([](const RunRequest&) {
    return RunResult{.figures = {}, .failure = "beyond the end of time"};
  });
  const auto result = run_sweep(SweepKind::kMemory, scenario, failing);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().to_string(),
            "test.yaml: the run without a limit of memory can't be simulated: beyond the end of "
            "time");
  FakeExecutor empty([](const RunRequest&) { return swept({}); });
  EXPECT_FALSE(run_sweep(SweepKind::kMemory, scenario, empty));
  EXPECT_EQ(empty.asked.size(), 1u);
}

// recompute, retain, then 2, 5 and 10 GB/s of each capacity.
std::vector<HostCrossover> crossovers_of(const std::vector<RunResult>& records) {
  const Scenario scenario =
      agents_with("study: {agents: {host_bandwidth_gb_s: [10, 2, 5], host_capacity_gb: [1, 64]}}\n",
                  "", ", retention: {host: {bandwidth_gb_s: 5}}");
  std::size_t next = 0;
  return sweep_by(SweepKind::kHost, scenario, [&](const RunRequest&) { return records[next++]; })
      .crossovers;
}

TEST(HostSweep, OffloadBeatsRecomputeFromABandwidthOn) {
  const RunResult at_100 = of_ttl(100, 1);
  const RunResult at_99 = of_ttl(99, 1);
  const auto found = crossovers_of({at_100, at_99, at_99, at_100, at_99, at_100, at_99, at_99});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].capacity_gb, 1);
  EXPECT_EQ(found[0].beats_recompute_gb_s, 10) << "it loses at 5, so winning at 2 was luck";
  EXPECT_EQ(found[1].capacity_gb, 64);
  EXPECT_EQ(found[1].beats_recompute_gb_s, 5);
  EXPECT_EQ(found[0].beats_retain_gb_s, std::nullopt) << "as fast is not faster";

  const auto never =
      crossovers_of({at_100, at_99, at_99, at_99, at_100, at_99, at_99, of_ttl(50, 1, 9)});
  EXPECT_EQ(never[0].beats_recompute_gb_s, std::nullopt);
  EXPECT_EQ(never[1].beats_recompute_gb_s, std::nullopt) << "it leaves a session incomplete";

  RunResult met = of_ttl(100, 1);
  met.figures.set(Metric::kTurnAttainment, 0.4);
  RunResult late = of_ttl(50, 1);
  late.figures.set(Metric::kTurnAttainment, 0.2);
  EXPECT_EQ(crossovers_of({met, met, late, late, late, met, met, late})[0].beats_recompute_gb_s,
            std::nullopt)
      << "fewer turns are in time";
}

// recompute, retain, then 5, 25 (configured) and 100 GB/s.
SweepResult host_sweep_of(const std::vector<RunResult>& records) {
  const Scenario scenario = agents_with("study: {agents: {host_bandwidth_gb_s: [5, 100]}}\n");
  std::size_t next = 0;
  return sweep_by(SweepKind::kHost, scenario, [&](const RunRequest&) { return records[next++]; });
}

std::vector<std::string> strategies(const SweepResult& sweep) {
  std::vector<std::string> found;
  for (const HostAnswer& answer : sweep.answers) found.push_back(answer.strategy);
  return found;
}

TEST(HostSweep, HardwareThatIsNotThereIsNotRecommended) {
  // A faster link would win by far, and so the frontier is of the others too.
  const SweepResult sweep = host_sweep_of(
      {of_ttl(900, 3), of_ttl(100, 9), of_ttl(800, 2), of_ttl(300, 2), of_ttl(50, 1)});
  EXPECT_EQ(sweep.configured_bandwidth_gb_s, 25);
  EXPECT_EQ(sweep.least_ttft, 1u);
  EXPECT_EQ(sweep.recommended, 1u);
  EXPECT_EQ(sweep.within_slo, 3u);  // 300 ms of at most 500
  std::vector<bool> on;
  for (const SweepRow& row : sweep.rows) on.push_back(row.on_frontier);
  EXPECT_EQ(on, (std::vector<bool>{false, true, false, true, false}));
  EXPECT_EQ(strategies(sweep), (std::vector<std::string>{"retain", "retain", "offload"}));
}

TEST(HostSweep, AsFastWithLessMemoryIsTheAnswer) {
  // 104 is within 5 % of 100; at 5 GB/s a session is left incomplete.
  const SweepResult sweep = host_sweep_of(
      {of_ttl(900, 3), of_ttl(100, 9), of_ttl(10, 1, 9), of_ttl(104, 2), of_ttl(106, 1)});
  EXPECT_EQ(sweep.recommended, 3u);
  EXPECT_EQ(strategies(sweep), (std::vector<std::string>{"retain", "offload", "retain"}));
}

bool notes_contain(const SweepResult& sweep, const std::string& text) {
  return std::any_of(sweep.notes.begin(), sweep.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST(SweepNotes, SayWhatMakesASweepEmpty) {
  EXPECT_TRUE(ttl_sweep_of({of_ttl(100, 1), of_ttl(90, 2)}).notes.empty());
  EXPECT_TRUE(notes_contain(ttl_sweep_of({of_ttl(100, 1), of_ttl(100, 1)}), "changes nothing"));
  RunResult none = of_ttl(100, 1);
  none.figures.set(Metric::kHistoryHitRate, 0);
  EXPECT_TRUE(notes_contain(ttl_sweep_of({none, of_ttl(90, 2), none}), "At no point") == false);
  EXPECT_TRUE(notes_contain(ttl_sweep_of({none, none}), "At no point did any turn"));
  none.figures.set(Metric::kHistoryHitRate, {});
  EXPECT_TRUE(notes_contain(ttl_sweep_of({none, none}), "sessions have one turn"));
  none.figures.set(Metric::kTurns, 40);  // of 10 sessions
  EXPECT_FALSE(notes_contain(ttl_sweep_of({none, none}), "sessions have one turn"));
  EXPECT_TRUE(notes_contain(ttl_sweep_of({none, none}), "No turn that has a history was served"));
}

TEST(SweepNotes, SayWhenRetainingWasNotPossible) {
  const Scenario scenario = agents_with("study: {agents: {host_bandwidth_gb_s: [10]}}\n");
  int next = 0;
  const SweepResult sweep = sweep_by(SweepKind::kHost, scenario, [&](const RunRequest&) {
    RunResult record = of_ttl(100 + next, 1 + next);
    record.figures.set(Metric::kEvictedPressureTokens, next == 1 ? 64 : 0);
    ++next;
    return record;
  });
  EXPECT_TRUE(notes_contain(sweep, "With retain 64 tokens were evicted for want of memory"));
}

TEST(SweepNotes, SayWhatRecomputeLeavesCached) {
  const std::vector<RunResult> found(5, of_ttl(100, 1));
  EXPECT_TRUE(
      notes_contain(host_sweep_of(found), "what chains share (the system prompt, say) stays"));
  std::vector<RunResult> nothing = found;
  nothing[0].figures.set(Metric::kHistoryHitRate, 0);
  EXPECT_FALSE(notes_contain(host_sweep_of(nothing), "what chains share"));
}

TEST(SweepNotes, SayThatRepetitionsAreAlike) {
  const auto notes_with = [](bool alike) {
    const Scenario scenario = agents_with("repeats: 2\nstudy: {agents: {ttl_s: [0, 60]}}\n");
    int next = 0;
    return sweep_by(SweepKind::kTtl, scenario, [&](const RunRequest& request) {
      const double first = next++ < 2 ? 100 : 50;
      return of_ttl(alike || request.seed == 7 ? first : 80, first);
    });
  };
  EXPECT_TRUE(notes_contain(notes_with(true), "All repetitions gave the same figures"));
  EXPECT_TRUE(notes_with(false).notes.empty());
}

}  // namespace
}  // namespace inferscale
