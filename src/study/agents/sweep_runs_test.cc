// Sweeps by the simulator: what must rise or fall with the swept key, and what must be the same.

#include <gtest/gtest.h>

#include <algorithm>

#include "study/agents/sweep.h"
#include "study/agents/sweep_test_support.h"
#include "study/serial_executor.h"

namespace inferscale {
namespace {

SweepResult simulated(SweepKind kind, Scenario scenario) {
  std::vector<Scenario> scenarios;
  scenarios.push_back(std::move(scenario));
  const Result<void> right = check_sweep(kind, scenarios[0]);
  CHECK(right.has_value()) << right.error().to_string();
  const auto executor = make_serial_executor(scenarios, nullptr);
  Result<SweepResult> result = run_sweep(kind, scenarios[0], *executor);
  CHECK(result.has_value()) << result.error().to_string();
  for (const SweepRow& row : result->rows) CHECK(row.simulated()) << row.failure;
  return std::move(*result);
}

std::vector<double> figures_of(const SweepResult& sweep, Metric metric) {
  std::vector<double> figures;
  for (const SweepRow& row : sweep.rows) figures.push_back(row.mean(metric).value_or(-1));
  return figures;
}

bool never_falls(const std::vector<double>& figures) {
  return std::is_sorted(figures.begin(), figures.end());
}

const std::string kSerial = ", service: serial";

TEST(SweepRuns, ALongerTimeToLiveKeepsAndFindsMore) {
  for (const std::string& service : {std::string(), kSerial}) {
    const SweepResult sweep =
        simulated(SweepKind::kTtl,
                  agents_with("study: {agents: {ttl_s: [0, 1, 4, 16, 64, null]}}\n", "", service));
    const std::vector<double> found = figures_of(sweep, Metric::kHistoryHitRate);
    EXPECT_EQ(found.front(), 0) << "nothing is kept";
    EXPECT_GT(found.back(), 0.95) << "all whole blocks are";
    EXPECT_TRUE(never_falls(found)) << testing::PrintToString(found);
    const std::vector<double> kept = figures_of(sweep, Metric::kKvGbMean);
    EXPECT_LT(kept.front(), kept.back());
    EXPECT_EQ(figures_of(sweep, Metric::kEvictedTtlTokens).back(), 0);
    EXPECT_EQ(figures_of(sweep, Metric::kTurns), std::vector<double>(6, 60));
  }
}

TEST(SweepRuns, NeverIsTheConfigurationAsItIs) {
  const std::string options = "study: {agents: {ttl_s: [null]}}\n";
  const SweepResult sweep = simulated(SweepKind::kTtl, agents_with(options));
  const auto alone = run_once(agents_with(options), {.seed = 7}, nullptr);
  for (const Metric metric : sweep_metrics()) {
    EXPECT_EQ(sweep.rows[0].mean(metric), alone->figures[metric]) << info_of(metric).name;
  }
}

TEST(SweepRuns, RepetitionsAreTheRunsOfTheirSeeds) {
  const std::string options = "repeats: 2\nstudy: {agents: {ttl_s: [null]}}\n";
  const SweepResult sweep = simulated(SweepKind::kTtl, agents_with(options));
  double sum = 0;
  for (const std::uint64_t seed : {7U, 8U}) {
    sum += *run_once(agents_with(options), {.seed = seed}, nullptr)->figures[Metric::kTurnTtftP95];
  }
  EXPECT_EQ(sweep.rows[0].mean(Metric::kTurnTtftP95), sum / 2);
  EXPECT_GT(*sweep.rows[0][Metric::kTurnTtftP95]->sd, 0);
}

void expect_no_limit_at_the_peak(const std::string& service) {
  const SweepResult sweep = simulated(
      SweepKind::kMemory,
      agents_with("repeats: 2\nstudy: {agents: {memory_budgets: [0.2, 0.4, 0.6, 0.8, 1, 1.5]}}\n",
                  "", service));
  EXPECT_EQ(sweep.reference->row.mean(Metric::kEvictedPressureTokens), 0);
  ASSERT_EQ(sweep.reference->peaks.size(), 2u);
  EXPECT_NE(sweep.reference->peaks[0], sweep.reference->peaks[1]) << "each trace has its own";
  for (std::size_t i = 4; i < 6; ++i) {
    for (const Metric metric : sweep_metrics()) {
      EXPECT_EQ(sweep.rows[i].mean(metric), sweep.reference->row.mean(metric))
          << info_of(metric).name << " at " << sweep.rows[i].point.name;
    }
  }
  EXPECT_GT(figures_of(sweep, Metric::kEvictedPressureTokens)[3], 0)
      << "a peak is a peak: below it something has to go";
  const std::vector<double> found = figures_of(sweep, Metric::kHistoryHitRate);
  EXPECT_TRUE(never_falls(found)) << testing::PrintToString(found);
  EXPECT_TRUE(sweep.notes.empty()) << sweep.notes[0];
}

TEST(SweepRuns, ACacheOfThePeaksSizeIsNoLimit) {
  expect_no_limit_at_the_peak(kSerial);
  expect_no_limit_at_the_peak("");
}

// What one session alone has is more than a tenth of the peak of several: such turns can't be
// served.
TEST(SweepRuns, BudgetsTooSmallForATurnMakeItFail) {
  const SweepResult sweep =
      simulated(SweepKind::kMemory,
                agents_with("study: {agents: {memory_budgets: [0.05, 1]}}\n", "", kSerial));
  EXPECT_GT(sweep.rows[0].mean(Metric::kTurnsFailed), 0);
  EXPECT_GT(sweep.rows[0].incomplete(), 0);
  EXPECT_LT(sweep.rows[0].mean(Metric::kSessionAttainment),
            sweep.rows[1].mean(Metric::kSessionAttainment));
  EXPECT_EQ(sweep.recommended, 1u);
}

TEST(SweepRuns, LocalityRisesFromLeastLoadToAffinity) {
  const SweepResult sweep = simulated(
      SweepKind::kAffinity,
      agents_with("study: {agents: {affinity_slack_ms: [1000000]}}\n", "  replicas: 3\n"));
  const std::vector<double> locality = figures_of(sweep, Metric::kRoutingLocality);
  EXPECT_LT(locality[0], 0.9);
  EXPECT_EQ(locality[1], 1) << "with that slack nobody leaves";
  EXPECT_EQ(locality[2], 1);
  const std::vector<double> found = figures_of(sweep, Metric::kHistoryHitRate);
  EXPECT_LT(found[0], found[2]);
}

TEST(SweepRuns, AFasterHostTierCostsLess) {
  for (const std::string& service : {std::string(), kSerial}) {
    const SweepResult sweep =
        simulated(SweepKind::kHost,
                  agents_with("study: {agents: {host_bandwidth_gb_s: [0.1, 1, 10, 100, 1000]}}\n",
                              "", service));
    const std::vector<double> found = figures_of(sweep, Metric::kHistoryHitRate);
    EXPECT_EQ(found[0], 0) << "recompute";
    EXPECT_GT(found[1], 0.95) << "retain";
    EXPECT_GT(found[6], 0.95) << "offload";
    std::vector<double> waited = figures_of(sweep, Metric::kTransferSeconds);
    EXPECT_EQ(waited[0], 0);
    EXPECT_EQ(waited[1], 0);
    waited.erase(waited.begin(), waited.begin() + 2);
    EXPECT_TRUE(std::is_sorted(waited.rbegin(), waited.rend())) << testing::PrintToString(waited);
    EXPECT_LT(sweep.rows[6].mean(Metric::kKvGbMean), sweep.rows[1].mean(Metric::kKvGbMean));
    ASSERT_EQ(sweep.crossovers.size(), 1u);
    EXPECT_EQ(sweep.crossovers[0].capacity_gb, 128);
    EXPECT_TRUE(sweep.crossovers[0].beats_recompute_gb_s.has_value());
  }
}

}  // namespace
}  // namespace inferscale
