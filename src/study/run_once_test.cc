// A run of a study against the simulator that it stands on, and what changes its record.

#include "study/run_once.h"

#include <gtest/gtest.h>

#include "base/config_json.h"
#include "study/serial_executor.h"
#include "study/study_test_support.h"

namespace inferscale {
namespace {

constexpr const char* kChat = R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 300
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 128, cv: 0.8}
slo: {ttft_ms: 500, itl_ms: 50}
)";

RunResult record_of(const Scenario& scenario, const RunRequest& request) {
  const std::optional<RunResult> record = run_once(scenario, request, nullptr);
  CHECK(record.has_value());
  return *record;
}

TEST(RunOnce, GivesTheSimulatorsFigures) {
  const Scenario scenario = scenario_of(kChat);
  const RunResult record = record_of(scenario, {.seed = 7});
  ASSERT_TRUE(record.simulated()) << record.failure;

  const Result<PreparedRun> run = scenario.prepare({.seed = 7});
  const auto requests = run->requests();
  const SimulationResult result = simulate_fleet(run->deployment.fleet, {}, *requests, {});
  const RunSummary summary = summarize_run(result.outcomes, *result.gaps, facts_of(*run, result));
  EXPECT_EQ(record.figures[Metric::kTtftP95], summary.ttft_ms.p95);
  EXPECT_EQ(record.figures[Metric::kGoodput], summary.goodput);
  EXPECT_EQ(record.figures[Metric::kArrived], 300);
  // Without a warm-up a study's rates are the summary's.
  EXPECT_EQ(record.figures[Metric::kOfferedRps], summary.offered_rps);
  EXPECT_EQ(record.figures[Metric::kFinishedRps], summary.finished_rps);
  EXPECT_EQ(record.figures[Metric::kOutputTokensPerSecond], summary.output_tokens_per_s);
  EXPECT_EQ(record.figures[Metric::kAccelerators], 1);
  EXPECT_EQ(record.figures[Metric::kPrefixHitRate], std::nullopt);
  double longest = 0;
  for (const Outcome& outcome : result.outcomes) {
    longest = std::max(longest, (outcome.finish - outcome.start).seconds());
  }
  EXPECT_EQ(record.figures[Metric::kServiceMax], longest);
}

TEST(RunOnce, RatesAreOfTheTimeAfterTheWarmUpLikeGoodput) {
  const Scenario scenario = scenario_of(std::string(kChat) + "measurement: {warmup_s: 10}\n");
  const Result<PreparedRun> run = scenario.prepare({.seed = 7});
  const auto requests = run->requests();
  const SimulationResult result = simulate_fleet(run->deployment.fleet, {}, *requests, {});
  std::vector<Outcome> counted;
  std::int64_t tokens = 0;
  for (const Outcome& outcome : result.outcomes) {
    if (outcome.arrival < Instant::nanos(10'000'000'000)) continue;
    counted.push_back(outcome);
    tokens += outcome.output_tokens;
  }
  const double measured_s = (result.end - Instant::nanos(10'000'000'000)).seconds();
  const RunResult record = record_of(scenario, {.seed = 7});
  const auto count = static_cast<double>(counted.size());
  EXPECT_DOUBLE_EQ(*record.figures[Metric::kFinishedRps], count / measured_s);
  EXPECT_DOUBLE_EQ(*record.figures[Metric::kOutputTokensPerSecond],
                   static_cast<double>(tokens) / measured_s);
  EXPECT_DOUBLE_EQ(*record.figures[Metric::kOfferedRps],
                   (count - 1) / (counted.back().arrival - counted.front().arrival).seconds());
  EXPECT_LE(*record.figures[Metric::kGoodputRps], *record.figures[Metric::kFinishedRps]);
}

TEST(RunOnce, AnotherSeedIsAnotherRunAndTheSameOneTheSame) {
  const Scenario scenario = scenario_of(kChat);
  EXPECT_EQ(record_of(scenario, {.seed = 7}), record_of(scenario, {.seed = 7}));
  EXPECT_NE(record_of(scenario, {.seed = 7}), record_of(scenario, {.seed = 8}));
}

TEST(RunOnce, SettingsAreReadLikeTheFile) {
  const Scenario slow = scenario_of(std::string(kChat) + "name: slow\n");
  RunRequest request{.seed = 7};
  request.settings.push_back({"workload.arrivals.rate_rps", number_node(2.5, "study")});
  const RunResult record = record_of(slow, request);
  EXPECT_LT(*record.figures[Metric::kOfferedRps], 4);
  EXPECT_EQ(setting_text(request.settings[0]), "workload.arrivals.rate_rps=2.5");
}

TEST(RunOnce, AConfigurationThatIsWrongIsARecordWithItsReason) {
  RunRequest request;
  request.settings.push_back({"deployment.engine.max_num_seqs", number_node(-1, "study")});
  const RunResult record = record_of(scenario_of(kChat), request);
  EXPECT_FALSE(record.simulated());
  EXPECT_NE(record.failure.find("max_num_seqs"), std::string::npos) << record.failure;
}

TEST(RunOnce, ScalesMultiplyWhatIsConfigured) {
  const Scenario plain = scenario_of(kChat);
  std::string text = kChat;
  text.replace(text.find("h100-sxm"), 8,
               "h100-sxm, latency: {prefill_scale: 1.5, decode_scale: 2}");
  RunRequest scaled;
  scaled.scales = {.prefill = 1.5, .decode = 2, .transfer = 1};
  EXPECT_EQ(record_of(plain, scaled), record_of(scenario_of(text), {}));
}

TEST(RunOnce, StopsWhenAsked) {
  const std::atomic<bool> stop = true;
  EXPECT_EQ(run_once(scenario_of(kChat), {}, &stop), std::nullopt);
}

TEST(Scenario, TheFingerprintIsOfWhatFiguresFollowFrom) {
  const std::string chat = kChat;
  const std::uint64_t fingerprint = scenario_of(chat).fingerprint();
  EXPECT_EQ(scenario_of("name: other\nseed: 9\nrepeats: 5\n" + chat).fingerprint(), fingerprint);
  EXPECT_EQ(scenario_of(chat + "study: {capacity: {headroom: 0.5}}").fingerprint(), fingerprint);
  EXPECT_NE(scenario_of(chat + "measurement: {warmup_s: 1}").fingerprint(), fingerprint);
  // The same run, but not the same once a setting changes what the default follows.
  EXPECT_NE(scenario_of(chat + "measurement: {warmup_s: 0}").fingerprint(), fingerprint);
}

TEST(SerialExecutor, RunsEqualRequestsOnce) {
  std::vector<Scenario> scenarios;
  scenarios.push_back(scenario_of(kChat));
  const auto executor = make_serial_executor(scenarios, nullptr);
  const std::vector<RunRequest> requests = {{.seed = 1}, {.seed = 2}, {.seed = 1}};
  const auto records = executor->run(requests);
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 3u);
  EXPECT_EQ((*records)[0], (*records)[2]);
  EXPECT_EQ((*records)[1], record_of(scenarios[0], {.seed = 2}));
}

}  // namespace
}  // namespace inferscale
