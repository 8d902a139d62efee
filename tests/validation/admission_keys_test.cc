// D4, "settings that nothing reads": each key of `admission`, `signals`, `predictor`, `clients` and
// `tenants` is changed in a run in which it should matter, and what happened in the run must change
// with it: decisions, attempts or outcomes, not what the manifest says. The list of keys is the
// program's own, so a key that is added without a row here fails.
//
// Parameters of policies are tested beside each policy. `on_error` needs a policy that fails, which
// is a plug-in.

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "validation/admission_runs.h"

namespace inferscale {
namespace {

// An engine of four places that is offered twice what it can do, by three tenants.
constexpr const char* kOverload = R"(
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {scheduler: vllm, max_num_seqs: 4, prefix_caching: true}
  latency: {model: linear, step_us: 10000}
workload:
  requests: 200
  arrivals: {process: poisson, rate_rps: 20}
  prompt_tokens: {distribution: lognormal, mean: 100, cv: 1}
  output_tokens: {distribution: lognormal, mean: 40, cv: 1}
  prefixes:
    tenants: 3
    zipf_exponent: 1
    system_prompt_tokens: {distribution: constant, value: 64}
slo: {ttft_ms: 1000}
)";

struct KeyCase {
  const char* key;
  Settings around;  // in which it should matter
  const char* changed;
};

// Refused: 529 by a full queue, 503 when it is to come again, 429 over a limit.
const Settings k529 = {"admission.policy=queue_depth", "admission.parameters={max_waiting: 4}",
                       "clients.retries.most=3"};
const Settings k503 = {"admission.policy=queue_depth",
                       "admission.parameters={max_waiting: 4, then: defer}",
                       "clients.retries.most=3"};
const Settings k429 = {"admission.policy=rate_limit", "admission.parameters={requests: 20}",
                       "clients.retries.most=3"};
const Settings kHonoured = k503 + Settings{"clients.retry_after.use=honoured"};
const Settings kBreaks = {"clients.stream_failures.probability=0.3", "clients.retries.most=2"};
const Settings kFails = {"deployment.failures=[{replica: 0, at_s: 3, return_after_s: 1}]",
                         "deployment.on_failure=lose", "clients.retries.most=2"};
const Settings kRouter = k503 + Settings{"clients.through=router"};
const Settings kBudget = k503 + Settings{"clients.budget.share=0.05"};
const Settings kTokens = {"admission.policy=token_budget", "admission.parameters={budget: 3000}"};
const Settings kStale =
    k529 + Settings{"signals.scrape_interval_s=1", "signals.delay_s=0.2", "signals.max_age_s=0.4"};
// A fit needs prompts that were alone, batches of different sizes, and steps that the first
// estimate does not know: here they hang on the context.
const Settings kLearns =
    k503 +
    Settings{"clients.retries.most=0",
             "workload.requests=600",
             "workload.arrivals={process: bursty, rate_rps: 6, burst_factor: 10, period_s: 10}",
             "admission.retry_after.least_s=0.01",
             "deployment.engine.max_num_seqs=8",
             "deployment.latency.decode_us_per_sequence=500",
             "deployment.latency.prefill_us_per_token=100",
             "deployment.latency.decode_ns_per_context_token=10000"};
const Settings kHold = k503 + Settings{"clients.retries.most=0", "admission.trend.window_s=0",
                                       "admission.hold={longest_s: 2}"};
const Settings kHalf = k529 + Settings{"admission.enforce=0.5"};

std::vector<KeyCase> door_cases() {
  return {
      {"admission.policy", {}, "admission.policy=queue_depth"},
      {"admission.enforce", k529, "admission.enforce=0"},
      {"admission.enforce_by", kHalf, "admission.enforce_by=request"},
      {"admission.enforce_key", kHalf + Settings{"admission.enforce_by=request"},
       "admission.enforce_key=7"},
      {"admission.on_error",
       {"admission.policy=fault_in_decide", "admission.parameters={code: 1}"},
       "admission.on_error=reject"},
      {"admission.at", k529 + Settings{"deployment.replicas=2"}, "admission.at=replica"},
      {"admission.request_ids", k529, "admission.request_ids=true"},
      {"admission.hold", k503, "admission.hold={}"},
      {"admission.hold.most", kHold, "admission.hold.most=3"},
      {"admission.hold.longest_s", kHold, "admission.hold.longest_s=0.5"},
      {"admission.hold.look_past", kHold, "admission.hold.look_past=1"},
      {"admission.retry_after.least_s", kHonoured, "admission.retry_after.least_s=3"},
      {"admission.retry_after.most_s",
       kHonoured + Settings{"admission.retry_after.least_s=0.01", "admission.trend.window_s=0"},
       "admission.retry_after.most_s=0.5"},
      {"admission.retry_after.jitter", kHonoured, "admission.retry_after.jitter=0"},
      {"admission.trend.window_s", k503 + Settings{"admission.trend.rises=1"},
       "admission.trend.window_s=0.5"},
      {"admission.trend.rises", k503 + Settings{"admission.trend.window_s=1"},
       "admission.trend.rises=1"},
      {"admission.status", k529, "admission.status={queue_depth: 418}"},
      {"admission.fallback", kStale, "admission.fallback={policy: reject_all}"},
      {"admission.fallback.policy", kStale + Settings{"admission.fallback={policy: none}"},
       "admission.fallback.policy=reject_all"},
      {"signals.scrape_interval_s", k529, "signals.scrape_interval_s=1"},
      {"signals.delay_s", k529, "signals.delay_s=0.5"},
      {"signals.max_age_s", k529 + Settings{"signals.scrape_interval_s=1"},
       "signals.max_age_s=0.3"},
      {"signals.window_s", k529, "signals.window_s=0.5"},
      {"signals.corrections", k529, "signals.corrections=false"},
      {"signals.on_stale", kStale, "signals.on_stale=closed"},
      {"predictor.output_tokens", kTokens, "predictor.output_tokens=constant"},
      {"predictor.constant", kTokens + Settings{"predictor.output_tokens=constant"},
       "predictor.constant=100"},
      {"predictor.quantile", kTokens + Settings{"predictor.output_tokens=tenant_quantile"},
       "predictor.quantile=0.5"},
      {"predictor.service", kLearns, "predictor.service=fitted"},
      {"tenants", k529, "tenants={tenant_0: {in_flight: 1}}"},
  };
}

std::vector<KeyCase> client_cases() {
  return {
      {"clients.profile", k529, "clients.profile=aider"},
      {"clients.retries.most", k529, "clients.retries.most=1"},
      {"clients.retries.on_429", k429, "clients.retries.on_429=false"},
      {"clients.retries.on_503", k503 + Settings{"admission.trend.window_s=0"},
       "clients.retries.on_503=false"},
      {"clients.retries.on_529", k529, "clients.retries.on_529=false"},
      {"clients.retries.on_other_5xx", k529 + Settings{"admission.status={queue_depth: 500}"},
       "clients.retries.on_other_5xx=false"},
      {"clients.retries.on_broken", kFails, "clients.retries.on_broken=false"},
      {"clients.retries.on_timeout", Settings{"clients.timeout_s=0.5", "clients.retries.most=2"},
       "clients.retries.on_timeout=false"},
      {"clients.backoff.base_s", k503, "clients.backoff.base_s=0.1"},
      {"clients.backoff.factor", k503, "clients.backoff.factor=3"},
      {"clients.backoff.cap_s", k503, "clients.backoff.cap_s=0.7"},
      {"clients.backoff.jitter_low", k503, "clients.backoff.jitter_low=0.5"},
      {"clients.backoff.jitter_high", k503, "clients.backoff.jitter_high=2"},
      {"clients.retry_after.use", k503, "clients.retry_after.use=honoured"},
      {"clients.retry_after.longest_s", kHonoured, "clients.retry_after.longest_s=0.5"},
      {"clients.retry_after.beyond", kHonoured + Settings{"clients.retry_after.longest_s=0.5"},
       "clients.retry_after.beyond=give_up"},
      {"clients.retry_after.jitter_low", kHonoured, "clients.retry_after.jitter_low=0.5"},
      {"clients.retry_after.jitter_high", kHonoured, "clients.retry_after.jitter_high=2"},
      {"clients.budget.share", k503, "clients.budget.share=0.05"},
      {"clients.budget.reserve", kBudget, "clients.budget.reserve=1"},
      {"clients.halve_after_429", k429, "clients.halve_after_429=true"},
      {"clients.after_529", k529, "clients.after_529=elsewhere"},
      {"clients.park_s", k529 + Settings{"clients.after_529=park"}, "clients.park_s=5"},
      {"clients.timeout_s", k529, "clients.timeout_s=0.5"},
      {"clients.closes", Settings{"clients.timeout_s=0.5", "clients.retries.most=2"},
       "clients.closes=false"},
      {"clients.stream_failures.probability", {}, "clients.stream_failures.probability=0.3"},
      {"clients.stream_failures.then", kBreaks, "clients.stream_failures.then=resume"},
      {"clients.through", k503, "clients.through=router"},
      {"clients.router.attempts", kRouter, "clients.router.attempts=2"},
      {"clients.router.base_s", kRouter, "clients.router.base_s=0.2"},
      {"clients.router.factor", kRouter, "clients.router.factor=3"},
      {"clients.router.cap_s", kRouter, "clients.router.cap_s=0.06"},
      {"clients.router.jitter_low", kRouter, "clients.router.jitter_low=0.5"},
      {"clients.router.jitter_high", kRouter, "clients.router.jitter_high=2"},
  };
}

std::vector<KeyCase> key_cases() {
  std::vector<KeyCase> cases = door_cases();
  for (const KeyCase& each : client_cases()) cases.push_back(each);
  return cases;
}

// What happened, without what the configuration says of it.
std::string events_of(const ProgramRun& run) {
  std::string decisions = run.text("decisions.jsonl");
  decisions.erase(0, decisions.find('\n') + 1);
  return decisions + run.text("attempts.jsonl") + run.text("outcomes.jsonl");
}

class Keys : public testing::Test {
 protected:
  void SetUp() override { setenv("INFERSCALE_POLICY_PATH", FAULTY_POLICY, 1); }
  void TearDown() override { unsetenv("INFERSCALE_POLICY_PATH"); }

  ScratchFolder folder_;
  std::string config_ = folder_.write("overload.yaml", kOverload);
};

TEST_F(Keys, D4_EachKeyOfAdmissionChangesWhatHappens) {
  for (const KeyCase& each : key_cases()) {
    const ProgramRun before("simulate", config_, each.around);
    const ProgramRun after("simulate", config_, each.around + Settings{each.changed});
    EXPECT_TRUE(before.succeeded()) << each.key << ": " << before.error();
    EXPECT_TRUE(after.succeeded()) << each.key << ": " << after.error();
    EXPECT_TRUE(events_of(before) != events_of(after)) << each.key << ": nothing came of it";
  }
}

// Every key that the program has in these parts has a row above.
TEST_F(Keys, D4_NoKeyIsLeftOut) {
  const std::string listing = folder_.file("reference.json");
  const std::string command =
      std::string("'") + INFERSCALE_BINARY + "' config reference --json >'" + listing + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::set<std::string> rows;
  for (const KeyCase& each : key_cases()) rows.insert(each.key);
  std::set<std::string> keys;
  for (const nlohmann::json& entry : nlohmann::json::parse(text_of_file(listing))) {
    const std::string key = entry.at("key");
    const std::string part = key.substr(0, key.find('.'));
    const bool is_ours = part == "admission" || part == "signals" || part == "predictor" ||
                         part == "clients" || part == "tenants";
    const bool is_map = entry.at("type") == "map";
    if (is_ours && !is_map && key.find(".parameters.") == std::string::npos) keys.insert(key);
  }
  EXPECT_GT(keys.size(), 50U);
  for (const std::string& key : keys) EXPECT_TRUE(rows.contains(key)) << key << ": no row";
}

// The other half of D4 and D1: what is not a key is an error, not ignored.
TEST_F(Keys, D1_AnUnknownKeyOfAdmissionIsAnError) {
  for (const char* setting :
       {"admission.polcy=none", "admission.hold={mst: 3}", "signals.scrape_s=1",
        "predictor.quantil=0.5", "clients.retries.max=3", "tenants={tenant_0: {in_flght: 1}}",
        "admission.parameters.max_waitng=3"}) {
    const ProgramRun run("simulate", config_, k529 + Settings{setting});
    EXPECT_FALSE(run.succeeded()) << setting;
    EXPECT_NE(run.error(), "") << setting;
  }
}

}  // namespace
}  // namespace inferscale
