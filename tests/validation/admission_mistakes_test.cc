// Mistakes that other tools were found to make, and that this one is not to repeat, in whole runs:
// those that no test of a single part can show. The letters and numbers are those of the list in
// docs/validation_admission.md, which says where the other tests are.

#include <gtest/gtest.h>

#include <set>

#include "validation/admission_runs.h"

namespace inferscale {
namespace {

constexpr const char* kOverload = R"(
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {scheduler: vllm, max_num_seqs: 4}
  latency: {model: linear, step_us: 10000}
workload:
  requests: 200
  arrivals: {process: poisson, rate_rps: 20}
  prompt_tokens: {distribution: lognormal, mean: 100, cv: 1}
  output_tokens: {distribution: lognormal, mean: 40, cv: 1}
slo: {ttft_ms: 1000}
admission: {policy: queue_depth, parameters: {max_waiting: 8}}
)";

class Mistakes : public testing::Test {
 protected:
  ProgramRun run_with(const Settings& settings) const {
    ProgramRun run("simulate", config_, settings);
    EXPECT_TRUE(run.succeeded()) << run.error();
    return run;
  }

  ScratchFolder folder_;
  std::string config_ = folder_.write("overload.yaml", kOverload);
};

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

// Two ways to run had two records. Here requests and agent sessions have one.
TEST_F(Mistakes, D2_BothKindsOfRunsWriteTheSameRecord) {
  const ProgramRun requests = run_with({});
  const ProgramRun sessions("agents", admission_scenario("two_agents.yaml"), {});
  ASSERT_TRUE(sessions.succeeded()) << sessions.error();
  const nlohmann::json of_requests = requests.lines("decisions.jsonl").front();
  const nlohmann::json of_sessions = sessions.lines("decisions.jsonl").front();
  EXPECT_EQ(of_requests.at("schema"), of_sessions.at("schema"));
  EXPECT_EQ(of_requests.at("version"), of_sessions.at("version"));
  EXPECT_EQ(keys_of(requests.decisions().front()), keys_of(sessions.decisions().front()));
  EXPECT_EQ(keys_of(requests.summary().at("admission")),
            keys_of(sessions.summary().at("admission")));
}

// Rates over the run with its drain said 11.2 of 12 requests/s.
TEST_F(Mistakes, D5_TheOfferedRateDoesNotHangOnTheDrain) {
  const ProgramRun all_in = run_with({"admission.policy=none", "admission.parameters={}"});
  const ProgramRun gated = run_with({});
  EXPECT_GT(all_in.summary().at("drain_s"), 2 * gated.summary().at("drain_s").get<double>());
  EXPECT_EQ(all_in.summary().at("throughput").at("offered_rps"),
            gated.summary().at("throughput").at("offered_rps"));
  EXPECT_EQ(gated.summary().at("admission").at("slo").at("offered_rps"),
            gated.summary().at("throughput").at("offered_rps"));
}

// Without outcomes there is no goodput. Each request has one, refused or not.
TEST_F(Mistakes, D6_EachRequestHasAnOutcome) {
  const ProgramRun run = run_with({});
  const std::vector<nlohmann::json> outcomes = run.lines("outcomes.jsonl");
  ASSERT_EQ(outcomes.size(), 200U);
  std::int64_t met = 0;
  std::int64_t refused = 0;
  for (const nlohmann::json& outcome : outcomes) {
    if (outcome.contains("slo_met") && outcome.at("slo_met") == true) ++met;
    if (outcome.at("status") == "refused") ++refused;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(refused, run.refused());
  EXPECT_DOUBLE_EQ(run.goodput(), static_cast<double>(met) / 200);
}

// A request whose caller stopped waiting was forgotten. Here it is counted, and a miss, whether its
// attempt was closed or runs on for nobody.
TEST_F(Mistakes, D7_HungRequestsAreMisses) {
  for (const char* closes : {"true", "false"}) {
    const ProgramRun run =
        run_with({"admission.policy=none", "admission.parameters={}", "clients.timeout_s=0.8",
                  std::string("clients.closes=") + closes});
    const nlohmann::json& counts = run.summary().at("requests");
    std::int64_t sum = 0;
    for (const char* ending :
         {"finished", "refused", "unfinished", "lost", "deferred", "abandoned"}) {
      sum += counts.at(ending).get<std::int64_t>();
    }
    EXPECT_EQ(sum, 200);
    const std::int64_t hung = counts.at("abandoned");
    EXPECT_GT(hung, 20) << closes;
    const std::int64_t met = run.summary().at("slo").at("met");
    EXPECT_LE(met, 200 - hung);
    EXPECT_DOUBLE_EQ(run.goodput(), static_cast<double>(met) / 200);
  }
}

// A signal that is not known was taken for zero, and everybody was admitted. Before the first page
// there is nothing to decide by, and the record says which rule decided in its place.
TEST_F(Mistakes, F5_BeforeTheFirstPageTheStaleRuleDecides) {
  const ProgramRun run =
      run_with({"signals.scrape_interval_s=2", "signals.delay_s=1", "signals.on_stale=closed"});
  int before_first_page = 0;
  for (const nlohmann::json& line : run.decisions()) {
    if (line.at("at_ns") >= 1'000'000'000) continue;
    ++before_first_page;
    EXPECT_EQ(line.at("stale"), "closed");
    EXPECT_EQ(line.at("effective").at("verdict"), "reject");
    EXPECT_FALSE(line.at("readings").contains("queue_depth"));
  }
  EXPECT_GT(before_first_page, 5);
}

// A run of a fake engine was kept as one of a GPU.
TEST_F(Mistakes, F8_ASimulatedRunSaysSoWhereverItIsRead) {
  const ProgramRun run = run_with({});
  EXPECT_EQ(run.lines("decisions.jsonl").front().at("simulated"), true);
  EXPECT_EQ(nlohmann::json::parse(run.text("manifest.json")).at("simulated"), true);
}

// Pages were fetched inside the decision, at each arrival. Here they come at their own pace: what a
// decision sees was observed at a multiple of the interval, however many arrive.
TEST_F(Mistakes, F15_ADecisionFetchesNoPage) {
  const ProgramRun run = run_with({"signals.scrape_interval_s=0.25"});
  std::set<std::int64_t> observed;
  std::size_t readings = 0;
  for (const nlohmann::json& line : run.decisions()) {
    const nlohmann::json& known = line.at("readings");
    if (!known.contains("queue_depth")) continue;
    ++readings;
    const std::int64_t at_ns = line.at("at_ns").get<std::int64_t>() -
                               known.at("queue_depth").at("age_ns").get<std::int64_t>();
    EXPECT_EQ(at_ns % 250'000'000, 0) << at_ns;
    observed.insert(at_ns);
  }
  EXPECT_GT(readings, 2 * observed.size());
}

// A shadow decision that would have refused was counted as one that did.
TEST_F(Mistakes, F12_InShadowNobodyIsRefusedAndTheRunIsTheUngatedOne) {
  const ProgramRun shadow = run_with({"admission.enforce=0"});
  const ProgramRun none = run_with({"admission.policy=none", "admission.parameters={}"});
  const nlohmann::json& decisions = shadow.summary().at("admission").at("decisions");
  EXPECT_EQ(shadow.refused(), 0);
  EXPECT_EQ(decisions.at("rejected"), 0);
  EXPECT_GT(decisions.at("shadow_refusals"), 0);
  EXPECT_NE(shadow.summary().at("admission").at("liveness").at("policy_acted"), "live");
  EXPECT_EQ(shadow.text("outcomes.jsonl"), none.text("outcomes.jsonl"));
}

// p95 of TTFT was compared between who survived one policy and who survived another: a policy that
// refuses nearly everybody won. Goodput has the same denominator for all.
TEST_F(Mistakes, F14_RefusingNearlyEverybodyDoesNotRaiseGoodput) {
  const ProgramRun some = run_with({});
  const ProgramRun hardly_any =
      run_with({"admission.policy=rate_limit", "admission.parameters={requests: 3, per: pool}"});
  EXPECT_LT(hardly_any.ttft_ms("p95"), some.ttft_ms("p95"));
  EXPECT_EQ(hardly_any.summary().at("slo").at("attainment_admitted"), 1);
  EXPECT_LT(hardly_any.goodput(), some.goodput());
  EXPECT_DOUBLE_EQ(hardly_any.goodput(), 3.0 / 200);
}

}  // namespace
}  // namespace inferscale
