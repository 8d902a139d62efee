// What a summary counts, and what it leaves out, worked by hand.

#include "metrics/run_summary.h"

#include <gtest/gtest.h>

#include <memory>

#include "metrics/single_server_test_support.h"

namespace inferscale {
namespace {

Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

Outcome finished(double arrival_s, double ttft_s, double e2e_s) {
  Outcome outcome;
  outcome.arrival = at(arrival_s);
  outcome.start = at(arrival_s);
  outcome.first_token = at(arrival_s + ttft_s);
  outcome.finish = at(arrival_s + e2e_s);
  outcome.prompt_tokens = 100;
  outcome.output_tokens = 11;
  outcome.status = OutcomeStatus::kFinished;
  return outcome;
}

Outcome ended(double arrival_s, OutcomeStatus status) {
  Outcome outcome;
  outcome.arrival = at(arrival_s);
  outcome.prompt_tokens = 100;
  outcome.status = status;
  if (status == OutcomeStatus::kRefused) outcome.reason = Reason::kQueueFull;
  return outcome;
}

RunSummary summarize_with(const std::vector<Outcome>& outcomes, const RunFacts& facts) {
  const auto gaps = std::make_unique<DurationHistogram>();
  return summarize_run(outcomes, *gaps, facts);
}

// Ten requests, one a second: the first four slow; one of each other ending on either side.
std::vector<Outcome> ten_requests() {
  std::vector<Outcome> outcomes = {finished(0, 9, 10), ended(1, OutcomeStatus::kRefused),
                                   ended(2, OutcomeStatus::kLost), finished(3, 9, 10)};
  for (int i = 4; i < 8; ++i) outcomes.push_back(finished(i, 0.1 * (i - 3), 1));
  outcomes.push_back(ended(8, OutcomeStatus::kRefused));
  outcomes.push_back(ended(9, OutcomeStatus::kLost));
  return outcomes;
}

RunFacts facts_with_slo() {
  RunFacts facts{.end = at(14), .accelerators = 2};
  facts.slo.ttft = Duration::from_millis(250);
  return facts;
}

TEST(RunSummary, WithoutAWarmupEverybodyCounts) {
  const RunSummary summary = summarize_with(ten_requests(), facts_with_slo());
  EXPECT_EQ(summary.arrived, 10);
  EXPECT_EQ(summary.finished, 6);
  EXPECT_EQ(summary.refused, 2);
  EXPECT_EQ(summary.lost, 2);
  EXPECT_EQ(summary.unfinished, 0);
  EXPECT_EQ(summary.arrived,
            summary.finished + summary.refused + summary.lost + summary.unfinished);
  EXPECT_EQ(summary.warmup_excluded, 0);
  EXPECT_EQ(summary.counted, 10);
  EXPECT_EQ(summary.ttft_ms.count, 6);
  EXPECT_EQ(summary.slo_met, 2);
  EXPECT_DOUBLE_EQ(summary.goodput, 0.2);
  EXPECT_DOUBLE_EQ(summary.goodput_rps, 2.0 / 14);
  EXPECT_DOUBLE_EQ(summary.attainment_admitted, 0.25);  // of 8: a lost one was admitted
}

TEST(RunSummary, AWarmupLeavesLatencyAndGoodputAndNothingElse) {
  RunFacts facts = facts_with_slo();
  const RunSummary whole = summarize_with(ten_requests(), facts);
  facts.measurement.warmup = Duration::from_seconds(4);
  const RunSummary summary = summarize_with(ten_requests(), facts);
  EXPECT_EQ(summary.warmup_s, 4);
  EXPECT_EQ(summary.warmup_excluded, 4);  // who arrives at 4 s counts
  EXPECT_EQ(summary.counted, 6);
  EXPECT_EQ(summary.ttft_ms.count, 4);
  EXPECT_DOUBLE_EQ(summary.ttft_ms.mean, 250);
  EXPECT_EQ(summary.e2e_ms.max, 1000);
  EXPECT_EQ(summary.slo_met, 2);
  EXPECT_DOUBLE_EQ(summary.goodput, 2.0 / 6);
  EXPECT_DOUBLE_EQ(summary.goodput_rps, 2.0 / 10);
  EXPECT_EQ(summary.admitted, 5);
  EXPECT_DOUBLE_EQ(summary.attainment_admitted, 2.0 / 5);
  // Endings, rates of the whole run and its use are as they were.
  EXPECT_EQ(summary.arrived, whole.arrived);
  EXPECT_EQ(summary.finished, whole.finished);
  EXPECT_EQ(summary.refused, whole.refused);
  EXPECT_EQ(summary.lost, whole.lost);
  EXPECT_EQ(summary.output_tokens, whole.output_tokens);
  EXPECT_EQ(summary.finished_rps, whole.finished_rps);
  EXPECT_EQ(summary.drain_s, whole.drain_s);
  EXPECT_EQ(summary.offered_rps, whole.offered_rps);
  EXPECT_EQ(summary.accelerator_hours, whole.accelerator_hours);
}

TEST(RunSummary, AWarmupLongerThanTheRunLeavesNothing) {
  RunFacts facts = facts_with_slo();
  facts.measurement.warmup = Duration::from_seconds(100);
  const RunSummary summary = summarize_with(ten_requests(), facts);
  EXPECT_EQ(summary.counted, 0);
  EXPECT_EQ(summary.ttft_ms.count, 0);
  EXPECT_EQ(summary.goodput_rps, 0);
  EXPECT_EQ(summary.steady(), std::nullopt);
}

TEST(RunSummary, AutoLeavesOutTheBacklogOfABadStart) {
  std::vector<Outcome> outcomes;
  for (int i = 0; i < 1000; ++i) {
    outcomes.push_back(finished(i, i < 100 ? 20 : 0.1, 21));
  }
  RunFacts facts{.end = at(1021)};
  facts.measurement.warmup_auto = true;
  const RunSummary summary = summarize_with(outcomes, facts);
  EXPECT_TRUE(summary.warmup_auto);
  EXPECT_TRUE(summary.warmup_found);
  EXPECT_EQ(summary.warmup_s, 100);
  EXPECT_EQ(summary.warmup_excluded, 100);
  EXPECT_EQ(summary.ttft_ms.max, 100);
  for (int i = 0; i < 1000; ++i) {
    outcomes[static_cast<std::size_t>(i)].first_token = at(2 * i);  // ever later
    outcomes[static_cast<std::size_t>(i)].finish = at(2 * i + 1);
  }
  const RunSummary growing = summarize_with(outcomes, facts);
  EXPECT_FALSE(growing.warmup_found);
  EXPECT_EQ(growing.warmup_excluded, 0);
}

TEST(RunSummary, ASaturatedRunHasNoIntervals) {
  RunFacts facts{.end = at(1e6)};
  facts.slo.e2e = Duration::from_seconds(3);
  const RunSummary stable = summarize_with(single_server(0.5, 20'000, 1, true), facts);
  EXPECT_EQ(stable.steady(), true);
  EXPECT_TRUE(stable.confidence.ttft_ms_mean.exists());
  EXPECT_TRUE(stable.confidence.e2e_ms_p95.exists());
  EXPECT_TRUE(stable.confidence.goodput.exists());
  EXPECT_FALSE(stable.confidence.tpot_ms_mean.exists());  // single tokens have no gaps
  // Time in the system is exponential with mean 2: 1 - exp(-3 / 2) = 0.77687 meet it.
  EXPECT_LT(stable.confidence.goodput.low, 0.77687);
  EXPECT_GT(stable.confidence.goodput.high, 0.77687);
  const RunSummary saturated = summarize_with(single_server(1.3, 20'000, 1, true), facts);
  EXPECT_EQ(saturated.steady(), false);
  EXPECT_FALSE(saturated.confidence.ttft_ms_mean.exists());
  EXPECT_FALSE(saturated.confidence.goodput.exists());
  // 1.3 arrivals for each service: 0.3 services a second pile up.
  EXPECT_NEAR(saturated.backlog.growth_rps, 0.3, 0.05);
}

TEST(RunSummary, HitRateIsOfFinishedPromptsAndNotMadeUp) {
  std::vector<Outcome> outcomes = ten_requests();
  outcomes[0].cached_tokens = 90;
  outcomes[4].cached_tokens = 30;
  outcomes[9].cached_tokens = 100;  // lost
  RunFacts facts = facts_with_slo();
  EXPECT_EQ(summarize_with(outcomes, facts).prefix_hit_rate, std::nullopt);
  facts.prefix_caching = true;
  EXPECT_DOUBLE_EQ(*summarize_with(outcomes, facts).prefix_hit_rate, 120.0 / 600);
  EXPECT_EQ(summarize_with({}, facts).prefix_hit_rate, std::nullopt);
}

TEST(RunSummary, AcceleratorHoursAreOfTheTimeThatReplicasWereUp) {
  RunFacts facts = facts_with_slo();
  EXPECT_DOUBLE_EQ(summarize_with(ten_requests(), facts).accelerator_hours, 2 * 14 / 3600.0);
  const std::vector<ReplicaReport> replicas = {
      {.accelerators = 2, .up = Duration::from_seconds(14)},
      {.index = 1, .accelerators = 8, .up = Duration::from_seconds(5)}};
  facts.replicas = replicas;
  const RunSummary summary = summarize_with(ten_requests(), facts);
  EXPECT_DOUBLE_EQ(summary.accelerator_hours, (2 * 14 + 8 * 5) / 3600.0);
  EXPECT_DOUBLE_EQ(*summary.accelerator_hours_per_million_output_tokens,
                   summary.accelerator_hours / 66e-6);
  EXPECT_EQ(summary.fleet.replicas, 2);
}

}  // namespace
}  // namespace inferscale
