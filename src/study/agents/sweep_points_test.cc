// What is set at each point of a sweep, and what is wrong with options and scenarios.

#include "study/agents/sweep_points.h"

#include <gtest/gtest.h>

#include "study/agents/memory_budgets.h"
#include "study/agents/sweep_test_support.h"

namespace inferscale {
namespace {

// "name: key=value key=value", for each point.
std::vector<std::string> texts_of(const std::vector<SweepPoint>& points,
                                  std::int64_t repetition = 0) {
  std::vector<std::string> texts;
  for (const SweepPoint& point : points) {
    std::string text = point.name + ":";
    for (const Setting& setting : point.settings_of(repetition))
      text += " " + setting_text(setting);
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> points_of(SweepKind kind, const Scenario& scenario) {
  const Result<std::vector<SweepPoint>> points = sweep_points(kind, scenario);
  CHECK(points.has_value()) << points.error().to_string();
  return texts_of(*points);
}

TEST(SweepPoints, OfATtlSweepRetainForSoLong) {
  const std::vector<std::string> points = points_of(SweepKind::kTtl, agents_with());
  ASSERT_EQ(points.size(), 7u);
  const std::string set = R"(deployment.engine.retention.idle="retain" )"
                          "deployment.engine.retention.ttl_s=";
  EXPECT_EQ(points[0], "0 s: " + set + "0");
  EXPECT_EQ(points[5], "3600 s: " + set + "3600");
  EXPECT_EQ(points[6], "never: " + set + "null");
}

TEST(SweepPoints, OfAnAffinitySweepLieBetweenTwoPolicies) {
  const std::string options = "study: {agents: {affinity_slack_ms: [50]}}\n";
  EXPECT_EQ(points_of(SweepKind::kAffinity, agents_with(options, "  replicas: 2\n")),
            (std::vector<std::string>{
                R"(least_load: deployment.router.policy="least_load")",
                R"(slack 50 ms: deployment.router.policy="bounded_affinity" )"
                "deployment.router.affinity_slack_ms=50",
                R"(session_affinity: deployment.router.policy="session_affinity")"}));
}

TEST(SweepPoints, AConfiguredRouterKeepsWhatItsSuccessorsKnow) {
  const Scenario scenario = agents_with(
      "study: {agents: {affinity_slack_ms: [50]}}\n",
      "  replicas: 2\n"
      "  router: {policy: bounded_affinity, affinity_slack_ms: 7, staleness_s: 0.5, most_sessions: "
      "9}\n");
  EXPECT_EQ(points_of(SweepKind::kAffinity, scenario),
            (std::vector<std::string>{
                R"(least_load: deployment.router={"policy":"least_load","staleness_s":0.5,)"
                R"("corrections":true})",
                R"(slack 50 ms: deployment.router={"policy":"bounded_affinity",)"
                R"("affinity_slack_ms":50,"staleness_s":0.5,"most_sessions":9,"corrections":true})",
                R"(session_affinity: deployment.router={"policy":"session_affinity",)"
                R"("staleness_s":0.5,"most_sessions":9,"corrections":true})"}));
  EXPECT_TRUE(check_sweep(SweepKind::kAffinity, scenario));
}

TEST(SweepPoints, OfAHostSweepAreThreeStrategies) {
  const std::string idle = "deployment.engine.retention.idle=";
  const std::string host = R"("offload" deployment.engine.retention.host.bandwidth_gb_s=)";
  EXPECT_EQ(
      points_of(SweepKind::kHost,
                agents_with("study: {agents: {host_bandwidth_gb_s: [25, 2.5]}}\n")),
      (std::vector<std::string>{
          "recompute: " + idle + R"("recompute")", "retain: " + idle + R"("retain")",
          "offload 2.5 GB/s: " + idle + host + "2.5", "offload 25 GB/s: " + idle + host + "25"}));
  const std::vector<std::string> sized = points_of(
      SweepKind::kHost,
      agents_with("study: {agents: {host_bandwidth_gb_s: [25], host_capacity_gb: [64, 8]}}\n"));
  EXPECT_EQ(sized[2], "offload 25 GB/s, 8 GB: " + idle + host +
                          "25 deployment.engine.retention.host.capacity_gb=8");
  EXPECT_EQ(sized[3], "offload 25 GB/s, 64 GB: " + idle + host +
                          "25 deployment.engine.retention.host.capacity_gb=64");
}

TEST(SweepPoints, TheConfiguredBandwidthIsAlwaysOneAndTheOnlyChoice) {
  const Scenario scenario = agents_with("study: {agents: {host_bandwidth_gb_s: [50, 10]}}\n", "",
                                        ", retention: {host: {bandwidth_gb_s: 22.5}}");
  const Result<std::vector<SweepPoint>> points = sweep_points(SweepKind::kHost, scenario);
  ASSERT_TRUE(points);
  std::vector<std::string> names;
  for (const SweepPoint& point : *points)
    names.push_back(point.name + (point.is_choice ? " *" : ""));
  EXPECT_EQ(names, (std::vector<std::string>{"recompute *", "retain *", "offload 10 GB/s",
                                             "offload 22.5 GB/s *", "offload 50 GB/s"}));
}

TEST(SweepPoints, BudgetsAreMultiplesOfEachRepetitionsPeakInWholeBlocks) {
  const Scenario scenario =
      agents_with("study: {agents: {memory_budgets: [0.001, 0.25, 1, 1.25]}}\n");
  const std::vector<SweepPoint> points = memory_points(scenario.base(), {1600, 800});
  const std::string set = R"(deployment.engine.retention.idle="retain" )"
                          "deployment.engine.retention.ttl_s=null "
                          "deployment.engine.kv_cache_tokens=";
  EXPECT_EQ(texts_of(points, 0), (std::vector<std::string>{
                                     "0.001 x peak: " + set + "16", "0.25 x peak: " + set + "400",
                                     "1 x peak: " + set + "1600", "1.25 x peak: " + set + "2000"}));
  EXPECT_EQ(texts_of(points, 1),
            (std::vector<std::string>{"0.001 x peak: " + set + "16",
                                      "0.25 x peak: " + set + "208",  // 200: 12.5 blocks
                                      "1 x peak: " + set + "800",
                                      "1.25 x peak: " + set + "1008"}));  // 62.5 blocks
  EXPECT_EQ(texts_of({unlimited_memory()}),
            std::vector<std::string>{"unlimited: " + set + "1000000000000"});
}

std::string error_of(SweepKind kind, const Scenario& scenario) {
  const Result<void> checked = check_sweep(kind, scenario);
  return checked ? "no error" : checked.error().to_string();
}

TEST(CheckSweep, RefusesWhatHasNothingToSweep) {
  for (const SweepKind kind :
       {SweepKind::kTtl, SweepKind::kAffinity, SweepKind::kMemory, SweepKind::kHost}) {
    const Scenario two = agents_with("", "  replicas: 2\n");
    EXPECT_EQ(error_of(kind, two), "no error") << sweep_name(kind);
  }
  EXPECT_EQ(error_of(SweepKind::kAffinity, agents_with()),
            "test.yaml: deployment.replicas: '1': expected at least 2: with one replica a router "
            "has nothing to choose, and every session stays where it is");
  const Scenario chat = scenario_of(
      "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
      "workload: {requests: 5, arrivals: {process: poisson, rate_rps: 1}, prompt_tokens: "
      "{distribution: constant, value: 9}, output_tokens: {distribution: constant, value: 9}}\n");
  EXPECT_EQ(error_of(SweepKind::kTtl, chat),
            "test.yaml: workload.sessions: missing: this is a study of agent sessions");
}

TEST(CheckSweep, NamesThePointThatCannotBe) {
  const std::string error = error_of(
      SweepKind::kHost, agents_with("study: {agents: {host_bandwidth_gb_s: [25, 1e8]}}\n"));
  EXPECT_NE(
      error.find("at 'offload 100000000 GB/s': deployment.engine.retention.host.bandwidth_gb_s: "
                 "'100000000': expected"),
      std::string::npos)
      << error;
}

std::string option_error(const std::string& options) {
  const Result<ConfigNode> tree = parse_yaml("study: {agents: {" + options + "}}\n", "test.yaml");
  CHECK(tree.has_value());
  ConfigSession session;
  ConfigReader root(*tree, session);
  ConfigReader study = root.map("study", "");
  read_agent_sweep_options(study);
  study.finish();
  return session.failed() ? session.error().message : "no error";
}

TEST(SweepOptions, ListsAreCheckedItemByItem) {
  EXPECT_EQ(option_error("ttl_s: [60, null, 0]"), "no error");
  EXPECT_EQ(option_error("ttl_s: [60, -1]"),
            "study.agents.ttl_s: a list: expected a list of numbers of at least 0 or null, at "
            "most 1e9 each; '-1' is not");
  EXPECT_EQ(option_error("memory_budgets: [0]"),
            "study.agents.memory_budgets: a list: expected a list of numbers above 0, at most "
            "1e9 each; '0' is not");
  EXPECT_NE(option_error("memory_budgets: [1, null]"), "no error");
  EXPECT_NE(option_error("affinity_slack_ms: ['5']"), "no error");
  EXPECT_NE(option_error("affinity_slack_ms: []"), "no error");
  EXPECT_NE(option_error("affinity_slack_ms: 5"), "no error");
  EXPECT_NE(option_error("host_bandwidth_gb_s: [5, 10, 5.0]").find("[5] is there twice"),
            std::string::npos);
  EXPECT_NE(option_error("ttl_s: [null, null]").find("[null] is there twice"), std::string::npos);
  EXPECT_NE(option_error("tolerance: -1"), "no error");
  EXPECT_NE(option_error("slack: 1"), "no error");
  EXPECT_EQ(option_error("repeats: 3"),
            "study.agents.repeats: '3': no key of the sweeps: expected at the top level (--set "
            "repeats=3)");
}

TEST(SweepOptions, ListsAreInRisingOrderWithNullLast) {
  const AgentSweepOptions options =
      agents_with("study: {agents: {ttl_s: [60, null, 5]}}\n").base().study.agents;
  EXPECT_EQ(options.ttl_s, (std::vector<std::optional<double>>{5, 60, std::nullopt}));
}

}  // namespace
}  // namespace inferscale
