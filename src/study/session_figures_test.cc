// The figures of agent programs in a run's record: those of its summary, and only where there are
// sessions.

#include "study/session_figures.h"

#include <gtest/gtest.h>

#include "study/run_once.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

constexpr const char* kSessions = R"(
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {prefix_caching: true, retention: {ttl_s: 5}}
workload:
  arrivals: {process: poisson, rate_rps: 0.5}
  sessions: {preset: coding_agent, count: 20, max_context_tokens: 100000}
)";

RunFigures figures_with(const std::string& more) {
  const std::optional<RunResult> record = run_once(scenario_of(kSessions + more), {}, nullptr);
  CHECK(record && record->simulated()) << record->failure;
  return record->figures;
}

TEST(SessionFigures, AreThoseOfTheSummary) {
  const Scenario scenario = scenario_of(std::string(kSessions) + "slo: {ttft_ms: 300}\n");
  const Result<PreparedRun> run = scenario.prepare({});
  ASSERT_TRUE(run) << run.error().to_string();
  const auto requests = run->requests();
  const SimulationResult result = simulate_fleet(run->deployment.fleet, {}, *requests, {});
  ASSERT_TRUE(result.programs);
  const SessionFacts facts = session_facts_of(*run, result);
  EXPECT_FALSE(facts.host_tier);
  EXPECT_EQ(facts.kv_bytes_per_token, 131072);
  const SessionSummary summary = summarize_sessions(*result.programs, result.outcomes, facts);
  const RunFigures figures = figures_of(*run, result);
  EXPECT_EQ(figures[Metric::kSessions], 20);
  EXPECT_EQ(figures[Metric::kTurns], static_cast<double>(result.programs->calls.size()));
  EXPECT_EQ(figures[Metric::kTurnTtftP95], summary.turn_ttft_ms.p95);
  EXPECT_EQ(figures[Metric::kTurnAttainment], summary.turn_attainment);
  EXPECT_EQ(figures[Metric::kHistoryHitRate], summary.history_hit_rate);
  EXPECT_EQ(figures[Metric::kHbmGbSeconds], summary.hbm_gb_seconds);
  EXPECT_GT(*figures[Metric::kHbmGbSeconds], 0);
  EXPECT_GT(*figures[Metric::kEvictedTtlTokens], 0);
  EXPECT_EQ(figures[Metric::kHostGbPeak], std::nullopt);
  // What a request and a turn have in common is the same without retries.
  EXPECT_EQ(figures[Metric::kTurnTtftP95], figures[Metric::kTtftP95]);
  EXPECT_EQ(figures[Metric::kTurnE2eP95], figures[Metric::kE2eP95]);
}

TEST(SessionFigures, WithoutTargetsTurnsAreNotJudged) {
  const RunFigures figures = figures_with("");
  EXPECT_EQ(figures[Metric::kTurnAttainment], std::nullopt);
  EXPECT_TRUE(figures[Metric::kSessionAttainment].has_value());
}

TEST(SessionFigures, OtherRunsHaveNone) {
  const std::optional<RunResult> record = run_once(scenario_of(R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 20
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 128, cv: 0.8}
)"),
                                                   {}, nullptr);
  ASSERT_TRUE(record && record->simulated());
  for (const MetricInfo& info : all_metrics()) {
    if (info.metric < Metric::kTurnTtftMean) continue;
    EXPECT_EQ(record->figures[info.metric], std::nullopt) << info.name;
  }
}

}  // namespace
}  // namespace inferscale
