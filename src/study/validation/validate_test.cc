#include "study/validation/validate.h"

#include <gtest/gtest.h>

#include <map>

#include "base/number_text.h"

#include "study/serial_executor.h"
#include "study/validation/validate_json.h"
#include "study/validation/validate_test_support.h"

namespace inferscale {
namespace {

constexpr char kOwn[] =
    "deployment: {model: llama-3.1-8b, hardware: h100, engine: {scheduler: vllm}}, "
    "workload: {requests: 200, arrivals: {process: poisson, rate_rps: 5}, "
    "prompt_tokens: {distribution: constant, value: 300}, "
    "output_tokens: {distribution: constant, value: 50}}";

std::string own_case(const std::string& id, const std::string& measured,
                     const std::string& more = "") {
  return "- {id: " + id + ", config: {" + kOwn + more + "}, measured: " + measured + "}\n";
}

struct Study {
  CaseFile file;
  CaseScenarios made;
  ValidateResult result;
};

Study study_of(const std::string& yaml, RunExecutor* executor = nullptr) {
  Study study;
  Result<CaseFile> file = cases_of(yaml);
  CHECK(file.has_value()) << file.error().to_string();
  study.file = std::move(*file);
  Result<CaseScenarios> made = scenarios_of(study.file.cases);
  CHECK(made.has_value()) << made.error().to_string();
  study.made = std::move(*made);
  const auto serial = make_serial_executor(study.made.scenarios, nullptr);
  Result<ValidateResult> result =
      validate(study.file.cases, study.made.scenarios, study.made.of_case, study.file.options,
               executor == nullptr ? *serial : *executor);
  CHECK(result.has_value()) << result.error().to_string();
  study.result = std::move(*result);
  return study;
}

// What the simulator says of the configuration that the tests use.
const RunFigures& own_figures() {
  static const RunFigures figures = [] {
    const Scenario scenario = scenario_of("{" + std::string(kOwn) + "}");
    const auto record =
        run_once(scenario, {.scenario = 0, .settings = {}, .seed = 42, .scales = {}}, nullptr);
    return record->figures;
  }();
  return figures;
}

const ErrorGroup* error_of(const ValidateResult& result, ErrorsBy by, Metric metric) {
  for (const ErrorGroup& group : result.errors) {
    if (group.by == by && group.metric == metric) return &group;
  }
  return nullptr;
}

TEST(Validate, TheSimulatorsOwnFigureHasNoError) {
  const double p95 = *own_figures()[Metric::kTtftP95];
  const Study study =
      study_of("cases:\n" + own_case("a", "{ttft_ms: {p95: " + number_text(p95) + "}}"));
  ASSERT_EQ(study.result.compared.size(), 1U);
  const ComparedFigure& figure = study.result.compared[0].figures[0];
  EXPECT_EQ(figure.predicted, p95);
  EXPECT_EQ(figure.relative_error, 0);
  EXPECT_FALSE(figure.predicted_sd);
  EXPECT_EQ(error_of(study.result, ErrorsBy::kRegime, Metric::kTtftP95)->errors.max_ape, 0);
}

// Measured := 1.1 x predicted, so (p - 1.1 p) / 1.1 p = -1/11.
TEST(Validate, ATenthTooLowIsAnEleventhOfTheMeasured) {
  const double e2e = *own_figures()[Metric::kE2eMean];
  const double rps = *own_figures()[Metric::kFinishedRps];
  const Study study = study_of(
      "cases:\n" + own_case("a", "{e2e_ms: {mean: " + number_text(1.1 * e2e) +
                                     "}, request_throughput: " + number_text(0.5 * rps) + "}"));
  const auto e2e_error = error_of(study.result, ErrorsBy::kHardware, Metric::kE2eMean)->errors;
  EXPECT_NEAR(e2e_error.mape, 1.0 / 11, 1e-12);
  EXPECT_NEAR(e2e_error.bias, -1.0 / 11, 1e-12);
  EXPECT_NEAR(error_of(study.result, ErrorsBy::kModel, Metric::kFinishedRps)->errors.bias, 1,
              1e-12);
}

TEST(Validate, AFarFromFullDeploymentIsLight) {
  const Study study = study_of("cases:\n" + own_case("a", "{e2e_ms: {mean: 1}}"));
  const RegimeFinding& found = study.result.compared[0].regime;
  EXPECT_EQ(found.regime, Regime::kLight);
  EXPECT_EQ(found.basis, RegimeBasis::kPredicted);
  ASSERT_TRUE(found.load_factor);
  // The capacity run asks 8 x 256 requests at once.
  EXPECT_GT(*found.load_factor, 0.01);
  EXPECT_LT(*found.load_factor, 0.2);
}

TEST(Validate, RegimesAreNeverPooled) {
  std::string yaml = "cases:\n";
  yaml += "- {id: slow, regime: light, config: {" + std::string(kOwn) +
          "}, measured: {e2e_ms: {mean: 1}}}\n";
  yaml += "- {id: fast, regime: overload, config: {" + std::string(kOwn) +
          "}, measured: {e2e_ms: {mean: 1}}}\n";
  const Study study = study_of(yaml);
  std::map<ErrorsBy, int> rows;
  for (const ErrorGroup& group : study.result.errors) {
    EXPECT_EQ(group.errors.n, 1);
    ++rows[group.by];
  }
  EXPECT_EQ(rows.size(), 4U);
  for (const auto& [by, count] : rows) EXPECT_EQ(count, 2) << errors_by_name(by);
}

TEST(Validate, PredictionsAreMeansOfTheRepetitionsWithTheirSpread) {
  FakeExecutor executor([](const RunRequest& request) {
    RunResult record;
    record.figures.set(Metric::kE2eMean, 100.0 + 10.0 * static_cast<double>(request.seed - 42));
    record.figures.set(Metric::kFinishedRps, 50);
    return record;
  });
  const Study study =
      study_of("repeats: 3\ncases:\n" + own_case("a", "{e2e_ms: {mean: 220}}"), &executor);
  ASSERT_EQ(executor.asked.size(), 4U);  // and the run that tells the capacity
  EXPECT_EQ(executor.asked[2].seed, 44U);
  EXPECT_EQ(setting_text(executor.asked[3].settings[1]), "workload.requests=2048");
  const ComparedFigure& figure = study.result.compared[0].figures[0];
  EXPECT_EQ(figure.predicted, 110);  // 100, 110, 120
  EXPECT_EQ(figure.predicted_sd, 10);
  EXPECT_EQ(figure.relative_error, -0.5);
}

TEST(Validate, AFigureThatTheRunLacksAndOneMeasuredAsZeroHaveNoError) {
  FakeExecutor executor([](const RunRequest&) {
    RunResult record;
    record.figures.set(Metric::kE2eMean, 100);
    return record;
  });
  const Study study =
      study_of("cases:\n" + own_case("a", "{e2e_ms: {mean: 0}, ttft_ms: {p95: 5}}"), &executor);
  const auto& figures = study.result.compared[0].figures;
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_FALSE(figures[0].predicted);  // in the order of metrics: TTFT first
  EXPECT_EQ(figures[1].predicted, 100);
  EXPECT_FALSE(figures[1].relative_error);
  EXPECT_TRUE(study.result.errors.empty());
}

TEST(Validate, EveryCaseIsComparedOrListed) {
  FakeExecutor executor([](const RunRequest& request) {
    RunResult record;
    record.figures.set(Metric::kE2eMean, 1);
    if (request.seed == 9) record.failure = "the run would last too long";
    return record;
  });
  std::string yaml = "cases:\n";
  yaml += own_case("good", "{e2e_ms: {mean: 1}}");
  yaml += own_case("fails", "{e2e_ms: {mean: 1}}", ", seed: 9");
  yaml +=
      "- {id: large, config: {deployment: {model: llama-3.1-405b, hardware: l4}, workload: "
      "{arrivals: {rate_rps: 1}, prompt_tokens: {mean: 10, cv: 1}, output_tokens: {mean: 10, "
      "cv: 1}}}, measured: {e2e_ms: {mean: 1}}}\n";
  yaml +=
      "- {id: closed, model: x, gpu: y, engine: vllm, arrival: {mode: closed}, measured: "
      "{e2e_ms: {mean: 1}}}\n";
  const Study study = study_of(yaml, &executor);
  EXPECT_EQ(study.result.compared.size(), 1U);
  ASSERT_EQ(study.result.not_simulated.size(), 3U);
  EXPECT_EQ(study.result.not_simulated[0].why.reason, "the run failed");
  EXPECT_EQ(study.result.not_simulated[0].why.detail, "the run would last too long");
  EXPECT_EQ(study.result.not_simulated[1].why.reason, "the deployment can't be simulated");
  EXPECT_EQ(study.result.not_simulated[2].index, 3U);

  const std::string json =
      validate_json(study.result, study.file.cases, study.made.scenarios, study.file.options)
          .text();
  EXPECT_TRUE(json.starts_with(R"({"kind":"validate","simulated":true,)")) << json;
  EXPECT_NE(json.find(R"("cases_read":4,"cases_compared":1,"cases_not_simulated":3)"),
            std::string::npos);
}

TEST(Validate, AWrongConfigurationOfOursEndsTheStudy) {
  Result<CaseFile> file = cases_of("cases:\n" + own_case("a", "{e2e_ms: {mean: 1}}", ", sead: 3"));
  ASSERT_TRUE(file);
  const auto made = scenarios_of(file->cases);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().to_string().starts_with("cases.yaml:2: unknown key 'sead'"))
      << made.error().to_string();
}

TEST(Validate, ADescribedDeploymentThatCannotBeIsListed) {
  Result<CaseFile> file =
      cases_of(described(std::string(kStream) + "  tp: 3\n", "{e2e_ms: {mean: 1}}"));  // 32 heads
  ASSERT_TRUE(file);
  const auto made = scenarios_of(file->cases);
  ASSERT_TRUE(made) << made.error().to_string();
  ASSERT_TRUE(file->cases[0].not_simulated);
  EXPECT_NE(file->cases[0].not_simulated->detail.find("tensor"), std::string::npos);
}

TEST(Validate, AWrongSettingEndsTheStudyThoughTheCaseIsDescribed) {
  Result<CaseFile> file = cases_of(described(kStream, "{e2e_ms: {mean: 1}}"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(apply_setting(file->cases[0].config, "deployment.engine.max_seqs=3"));
  const auto made = scenarios_of(file->cases);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().where, "--set");
}

TEST(Validate, BatchesAndBurstsAreAllThereAtOnce) {
  std::string yaml = "cases:\n";
  for (const char* mode : {"batch", "burst"}) {
    yaml += "- {id: " + std::string(mode) +
            ", model: llama-3.1-8b, gpu: h100, engine: vllm, arrival: {mode: " + mode +
            ", concurrency: 32}, n_requests: 32, prompt_tokens: 100, output_tokens: 20, "
            "prompt_tokens_cv: 0, output_tokens_cv: 0, measured: {e2e_ms: {mean: 1, p99: 1}}}\n";
  }
  const Study study = study_of(yaml);
  ASSERT_EQ(study.result.compared.size(), 2U);
  EXPECT_EQ(study.result.compared[0].regime.regime, Regime::kBatch);
  EXPECT_EQ(study.result.compared[1].regime.regime, Regime::kBurst);
  // One batch: all are answered at (nearly) the same time.
  const auto& figures = study.result.compared[0].figures;
  EXPECT_NEAR(*figures[0].predicted / *figures[1].predicted, 1, 0.1);
}

}  // namespace
}  // namespace inferscale
