// The search as a whole: against made-up runs whose truth is known, and on a small real deployment.

#include "study/tune/tune.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/number_text.h"
#include "study/serial_executor.h"
#include "study/study_test_support.h"
#include "study/tune/tune_json.h"

namespace inferscale {
namespace {

constexpr char kConfig[] = R"(
seed: 7
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 300
  arrivals: {process: poisson, rate_rps: 10}
  prompt_tokens: {distribution: lognormal, mean: 500, cv: 0.5}
  output_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
slo: {ttft_ms: 500}
)";

std::string with_tune(const std::string& keys) {
  return kConfig + ("study: {tune: {capacity_rps: 20, " + keys + "}}\n");
}

double number_of(const RunRequest& request, const std::string& key) {
  for (const Setting& setting : request.settings) {
    if (setting.key == key) return parse_finite(setting.value.text()).value_or(-1);
    if (setting.key != "admission.parameters") continue;
    const ConfigNode* inside = setting.value.find(key);
    if (inside != nullptr) return parse_finite(inside->text()).value_or(-1);
  }
  return -1;
}

std::string policy_of(const RunRequest& request) {
  for (const Setting& setting : request.settings) {
    if (setting.key == "admission.policy") return setting.value.text();
  }
  return "";
}

RunResult record_of(double goodput, double rejected = 0) {
  RunResult record;
  record.figures.set(Metric::kGoodput, goodput);
  record.figures.set(Metric::kRejectedShare, rejected);
  record.figures.set(Metric::kDeferredShare, 0);
  return record;
}

// In [-1, 1], of a seed: all candidates meet the same luck.
double luck(std::uint64_t seed) {
  return std::sin(static_cast<double>(seed % 1000) * 12.9898);
}

TuneResult tune_by(const std::string& yaml, const std::string& policy, FakeExecutor& executor) {
  const Scenario scenario = scenario_of(yaml);
  CHECK(check_tune(scenario, scenario, policy).has_value());
  Result<TuneResult> result = run_tune(scenario, scenario, policy, executor);
  CHECK(result.has_value()) << result.error().to_string();
  return std::move(*result);
}

const TuneComparison& against(const TuneResult& result, const std::string& control) {
  for (const TuneComparison& one : result.controls) {
    if (one.control.name == control) return one;
  }
  CHECK(false) << "no control " << control;
  return result.controls.front();
}

// Goodput falls with the load and with the distance of max_waiting from 23, on a log scale; limits
// of fixed_concurrency are best at 40 and never as good; without a policy and shed at random it is
// worse.
RunResult hill(const RunRequest& request) {
  const double load = number_of(request, "workload.arrivals.rate_rps") / 20;
  const std::string policy = policy_of(request);
  double miss = 0.3;
  if (policy == "queue_depth") {
    miss = 0.1 * std::fabs(std::log(number_of(request, "max_waiting") / 23));
  } else if (policy == "fixed_concurrency") {
    miss = 0.1 + 0.1 * std::fabs(std::log(number_of(request, "limit") / 40));
  }
  const double goodput = 1 - 0.2 * load - miss * load + 0.03 * luck(request.seed);
  return record_of(goodput, policy == "queue_depth" ? 0.1 * load : 0);
}

TEST(Tune, FindsTheOptimumOfAKnownFunctionAndBeatsTheControls) {
  FakeExecutor executor(hill);
  const TuneResult result = tune_by(with_tune("candidates: 30"), "queue_depth", executor);
  EXPECT_EQ(result.best().values, std::vector<double>{23});
  EXPECT_EQ(result.loads.loads[*result.tuned.worst_at].factor, 2);
  EXPECT_FALSE(result.loads.measured);
  for (const char* control : {"none", "fixed_concurrency", "equal_volume_shed"}) {
    EXPECT_EQ(against(result, control).verdict, TuneVerdict::kBetter) << control;
  }
  // Common random numbers: at twice the load none loses 0.3 x 2, whatever the seeds' luck.
  EXPECT_NEAR(*against(result, "none").difference, 0.6, 1e-9);
  EXPECT_NEAR(*against(result, "fixed_concurrency").difference, 0.2, 0.02);
}

TEST(Tune, TakesTheWorstLoadNotTheMean) {
  // At low loads long queues are best, at the highest one short ones: the worst case decides.
  FakeExecutor executor([](const RunRequest& request) {
    const double load = number_of(request, "workload.arrivals.rate_rps") / 20;
    const double waiting = std::max(1.0, number_of(request, "max_waiting"));
    const double lean = std::log(waiting) / std::log(256.0);
    return record_of(load < 1.9 ? 0.9 + 0.05 * lean : 0.6 - 0.2 * lean);
  });
  const TuneResult result = tune_by(with_tune("candidates: 20"), "queue_depth", executor);
  EXPECT_EQ(result.best().values, std::vector<double>{1});
}

TEST(Tune, AFlatFunctionDoesNotMatter) {
  // Luck of each run's own, which is no difference of policies.
  FakeExecutor executor([](const RunRequest& request) {
    const double own = std::sin(static_cast<double>(stable_hash(request_text(request)) % 100'000));
    return record_of(0.7 + 0.02 * own);
  });
  const TuneResult result = tune_by(with_tune("candidates: 12, as_good: 0.1, fresh_repeats: 30"),
                                    "queue_depth", executor);
  int decided = 0;
  for (const TuneComparison& one : result.controls) {
    decided += one.verdict != TuneVerdict::kDoesNotMatter ? 1 : 0;
  }
  EXPECT_EQ(decided, 0);
  const bool said = std::ranges::any_of(result.notes, [](const std::string& note) {
    return note.starts_with("What it is set to does not matter here: all ");
  });
  EXPECT_TRUE(said);
  EXPECT_NE(tune_json(result).text().find("\"does_not_matter\""), std::string::npos);
}

TEST(Tune, SaysWhatIsTheSameOnEverySeedAndWhatIsNoDraw) {
  FakeExecutor same(
      [](const RunRequest& request) { return record_of(0.5 + 0.1 * luck(request.seed)); });
  const TuneResult identical = tune_by(with_tune("candidates: 9"), "kv_threshold", same);
  EXPECT_EQ(against(identical, "none").verdict, TuneVerdict::kIdentical);
  FakeExecutor constant([](const RunRequest& request) {
    return record_of(policy_of(request) == "none" ? 0.4 : 0.6);
  });
  const TuneResult alike = tune_by(with_tune("candidates: 9"), "kv_threshold", constant);
  EXPECT_EQ(against(alike, "none").verdict, TuneVerdict::kDiffers);
  EXPECT_FALSE(against(alike, "none").interval);
  FakeExecutor few(hill);
  const TuneResult short_of = tune_by(with_tune("fresh_repeats: 4"), "queue_depth", few);
  EXPECT_EQ(against(short_of, "fixed_concurrency").verdict, TuneVerdict::kTooFew);
}

TEST(Tune, JudgesOnSeedsThatTheSearchHasNotSeenAndShedsTheMeasuredVolume) {
  FakeExecutor executor(hill);
  const TuneResult result = tune_by(with_tune("candidates: 12"), "queue_depth", executor);
  std::vector<double> rates;
  std::int64_t searched = 0;
  for (const RunRequest& request : executor.asked) {
    const std::string policy = policy_of(request);
    const bool fresh = request.seed >= 7 + kFreshSeeds;
    if (!fresh) {
      ++searched;
      EXPECT_TRUE(policy == "queue_depth" || policy == "fixed_concurrency") << policy;
      EXPECT_LT(request.seed, 7U + kTuneRepeats);
    }
    if (policy == "equal_volume_shed" && request.seed == 7 + kFreshSeeds) {
      rates.push_back(number_of(request, "rate"));
    }
  }
  // The same budget for the policy and for the constant limit.
  EXPECT_LE(searched, 2 * 12 * 4 * kTuneRepeats);
  ASSERT_EQ(rates.size(), 4U);
  EXPECT_NEAR(rates[0], 0.05, 1e-12);
  EXPECT_NEAR(rates[3], 0.2, 1e-12);
  EXPECT_GT(result.search.trials.size(), 6U);
}

TEST(Tune, KeepsTheConfiguredParametersOfTheConfiguredPolicyOnly) {
  const std::string yaml =
      with_tune("candidates: 3") +
      "admission: {policy: queue_depth, parameters: {max_waiting: 9, then: defer}}\n";
  FakeExecutor own(hill);
  tune_by(yaml, "queue_depth", own);
  EXPECT_EQ(request_text(own.asked.front()).find("admission.parameters={"), std::string::npos);
  bool limit_defers = false;
  for (const RunRequest& request : own.asked) {
    limit_defers |= policy_of(request) == "fixed_concurrency" &&
                    request_text(request).find("\"then\":\"defer\"") != std::string::npos;
  }
  EXPECT_TRUE(limit_defers);
  FakeExecutor other(hill);
  tune_by(yaml, "kv_threshold", other);
  EXPECT_NE(request_text(other.asked.front()).find("admission.parameters={\"threshold\":"),
            std::string::npos)
      << request_text(other.asked.front());
}

TEST(Tune, PassesOverCandidatesThatCannotRunAndEndsWhenNoneCan) {
  FakeExecutor some([](const RunRequest& request) {
    if (number_of(request, "max_waiting") > 30) return RunResult{.failure = "no room"};
    return hill(request);
  });
  const TuneResult result = tune_by(with_tune("candidates: 30"), "queue_depth", some);
  EXPECT_EQ(result.best().values, std::vector<double>{23});
  EXPECT_EQ(result.failures, std::vector<std::string>{"no room"});
  FakeExecutor none([](const RunRequest&) { return RunResult{.failure = "no room"}; });
  const Scenario scenario = scenario_of(with_tune("candidates: 5"));
  const Result<TuneResult> failed = run_tune(scenario, scenario, "queue_depth", none);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("no candidate of queue_depth gave a goodput: no room"),
            std::string::npos);
}

TEST(Tune, MeasuresTheCapacityWithoutThePolicyWhereItIsNotGiven) {
  FakeExecutor executor([](const RunRequest& request) {
    if (request.scenario == 0) return hill(request);
    RunResult record = record_of(number_of(request, "workload.arrivals.rate_rps") <= 33 ? 1 : 0.5);
    for (const Metric metric : {Metric::kDrain, Metric::kServiceMax}) record.figures.set(metric, 1);
    record.figures.set(Metric::kArrivalWindow, 1000);
    record.figures.set(Metric::kUnfinished, 0);
    return record;
  });
  const TuneResult result = tune_by(kConfig, "queue_depth", executor);
  EXPECT_TRUE(result.loads.measured);
  EXPECT_NEAR(result.loads.capacity, 33, 0.7);
  EXPECT_DOUBLE_EQ(result.loads.loads.back().load, 2 * result.loads.capacity);
  // Nothing fails: there is no capacity, and no guess is made.
  FakeExecutor endless([](const RunRequest&) {
    RunResult record = record_of(1);
    for (const Metric metric : {Metric::kDrain, Metric::kServiceMax}) record.figures.set(metric, 1);
    record.figures.set(Metric::kArrivalWindow, 1000);
    record.figures.set(Metric::kUnfinished, 0);
    return record;
  });
  const Scenario scenario = scenario_of(kConfig);
  const Result<TuneResult> none = run_tune(scenario, scenario, "queue_depth", endless);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("expected study.tune.capacity_rps"), std::string::npos);
}

std::string error_of(const std::string& yaml, const std::string& policy) {
  const Scenario scenario = scenario_of(yaml);
  const Result<void> checked = check_tune(scenario, scenario, policy);
  return checked ? "no error" : checked.error().to_string();
}

TEST(Tune, SaysWhatItCannotSearch) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of(with_tune(""), "luck"), "policy 'luck': expected one of `inferscale policies`");
  has(error_of(with_tune(""), "reject_all"),
      "study.tune.parameters: missing: expected the parameters of reject_all");
  has(error_of(with_tune("parameters: {max_age_s: {min: 1, max: 2}}"), "queue_depth"),
      "admission.parameters.max_age_s");
  has(error_of(with_tune("parameters: {threshold: {min: 0.5, max: 2}}"), "kv_threshold"),
      "admission.parameters.threshold");
  has(error_of(with_tune("candidates: 8, parameters: {capacity: {min: 10, max: 20}, refill_per_s: "
                         "{min: 1, max: 2}}"),
               "token_bucket"),
      "study.tune.candidates: '8': expected at least 9 for 2 parameters");
  std::string without_slo = with_tune("");
  without_slo.replace(without_slo.find("slo: {ttft_ms: 500}"), 19, "slo: null          ");
  has(error_of(without_slo, "queue_depth"), "slo: expected at least one target");
  has(error_of(with_tune(""), "rate_limit"), "policy rate_limit needs the tenant of a request");
  has(error_of(std::string(kConfig) + "study: {tune: {capacity_rps: 1000000}}\n", "queue_depth"),
      "study.tune: at load factor 1.5: ");
}

TEST(TuneOptions, AreReadStrictly) {
  const auto error = [](const std::string& keys) {
    const Result<ConfigNode> tree = parse_yaml(with_tune(keys), "t.yaml");
    CHECK(tree.has_value());
    const Result<Scenario> scenario = Scenario::make(*tree, test_inputs(), "t.yaml");
    return scenario ? std::string("no error") : scenario.error().to_string();
  };
  const auto has = [&](const std::string& keys, const std::string& part) {
    EXPECT_NE(error(keys).find(part), std::string::npos) << error(keys);
  };
  EXPECT_EQ(error("parameters: {max_waiting: {min: 1, max: 9, scale: log}}"), "no error");
  has("parameters: {max_waiting: {min: 9, max: 1}}", "with min below max");
  has("parameters: {max_waiting: {min: 0, max: 1, scale: log}}", "above 0 where the scale is log");
  has("parameters: {max_waiting: {min: 1, max: 9, step: 2}}", "study.tune.parameters.max_waiting");
  has("parameters: {max_waiting: 7}", "expected {min: ..., max: ...");
  has("load_factors: [1, 1]", "expected each number once");
  has("load_factors: [0]", "study.tune.load_factors");
  has("candidates: 2", "study.tune.candidates");
  has("budget: 7", "study.tune.budget");
}

// A real deployment with room for 8 sequences: without a bound the queue outgrows the target for
// the first token at twice the load; with hardly any queue places are left empty by bursts.
constexpr char kSmall[] = R"(
seed: 3
repeats: 2
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {scheduler: vllm, max_num_seqs: 8}
workload:
  requests: 250
  arrivals: {process: poisson, rate_rps: 8}
  prompt_tokens: {distribution: lognormal, mean: 500, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 100, cv: 0.8}
slo: {ttft_ms: 1000}
admission: {policy: queue_depth}
signals: {scrape_interval_s: 0.1}
study: {tune: {capacity_rps: 8, load_factors: [0.8, 2], candidates: 12, fresh_repeats: 6}}
)";

Result<TuneResult> tune_small() {
  std::vector<Scenario> scenarios;
  scenarios.push_back(scenario_of(kSmall));
  std::string bare = kSmall;
  bare.replace(bare.find("policy: queue_depth"), 19, "policy: none       ");
  scenarios.push_back(scenario_of(bare));
  const std::unique_ptr<RunExecutor> executor = make_serial_executor(scenarios, nullptr);
  return run_tune(scenarios[0], scenarios[1], "queue_depth", *executor);
}

TEST(Tune, OnARealDeploymentTheBoundHasAnOptimumInsideAndBeatsNoPolicy) {
  const Result<TuneResult> result = tune_small();
  ASSERT_TRUE(result) << result.error().to_string();
  const double best = result->best().values.front();
  EXPECT_GT(best, 1) << tune_json(*result).indented_text();
  EXPECT_LT(best, 256);
  const auto score_of = [&](double value) {
    for (const TuneTrial& trial : result->search.trials) {
      if (trial.values.front() == value) return trial.score.value_or(-1);
    }
    return -1.0;
  };
  // Both ends of the range were tried, and are worse by more than nothing.
  EXPECT_GT(*result->best().score, score_of(1) + 0.01);
  EXPECT_GT(*result->best().score, score_of(256) + 0.1);
  EXPECT_EQ(against(*result, "none").verdict, TuneVerdict::kBetter);
  // What it turned away at each load is what was shed at random.
  const TuneSide& shed = against(*result, "equal_volume_shed").control;
  EXPECT_NEAR(shed.levels[1].figures[1]->mean, result->tuned.levels[1].figures[1]->mean, 0.06);
  EXPECT_GT(shed.levels[1].figures[1]->mean, 0.1);
}

TEST(Tune, SameSeedSameBytes) {
  const Result<TuneResult> once = tune_small();
  const Result<TuneResult> again = tune_small();
  ASSERT_TRUE(once && again);
  EXPECT_EQ(tune_json(*once).text(), tune_json(*again).text());
}

}  // namespace
}  // namespace inferscale
