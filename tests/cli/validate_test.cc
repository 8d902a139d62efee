// `inferscale validate` from outside.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace inferscale {
namespace {

constexpr char kCase[] =
    "model: meta-llama/Llama-3.1-8B, gpu: H100-SXM-80GB, engine: vllm 0.15.1, "
    "arrival: {mode: open-poisson, rate_rps: 4, duration_s: 50}, prompt_tokens: 500, "
    "output_tokens: 100";

using Validate = Cli;

TEST_F(Validate, ExampleNeedsNoFileAndIsTheFileAmongTheScenarios) {
  const Ended ended = run("validate --example");
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* part :
       {"Predictions are simulated", "7 cases compared, 1 not simulated", "Measured and predicted",
        "median APE", "closed loop", "Predicted / measured"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
  EXPECT_EQ(run("validate --example --json").out,
            run("validate '" INFERSCALE_SOURCE_DIR "/configs/validation_example.yaml' --json").out);
}

// What the program predicts is taken for measured, and then a tenth more.
TEST_F(Validate, FindsTheErrorThatWasPutIn) {
  write("a.jsonl",
        "{\"id\": \"a\", \"model\": \"llama-3.1-8b\", \"gpu\": \"h100\", \"engine\": "
        "\"vllm\", \"arrival\": {\"mode\": \"burst\"}, \"n_requests\": 9, "
        "\"prompt_tokens\": 500, \"output_tokens\": 20, \"measured\": {\"e2e_ms\": "
        "{\"mean\": 100}}}\n");
  const std::string first = run("validate a.jsonl --json").out;
  const std::size_t at = first.find("\"predicted\": ");
  ASSERT_NE(at, std::string::npos) << first;
  const std::string figure = first.substr(at + 13, first.find(',', at) - at - 13);
  const auto error_with = [&](const std::string& measured) {
    const std::string out = run("validate a.yaml --json").out;
    const std::size_t mape = out.find("\"mape\": ");
    return mape == std::string::npos ? out + measured
                                     : out.substr(mape + 8, out.find(',', mape) - mape - 8);
  };
  const std::string head =
      "- {id: a, model: llama-3.1-8b, gpu: h100, engine: vllm, arrival: {mode: burst}, "
      "n_requests: 9, prompt_tokens: 500, output_tokens: 20, measured: {e2e_ms: {mean: ";
  write("a.yaml", head + figure + "}}}\n");
  EXPECT_EQ(error_with(figure), "0");
  const std::string more = std::to_string(1.1 * std::stod(figure));
  write("a.yaml", head + more + "}}}\n");
  EXPECT_EQ(error_with(more).substr(0, 6), "0.0909");
}

TEST_F(Validate, SettingsReachEveryCase) {
  write("a.yaml", std::string("- {id: a, ") + kCase + ", measured: {e2e_ms: {mean: 1}}}\n");
  const std::string plain = run("validate a.yaml --json").out;
  EXPECT_NE(plain, run("validate a.yaml --json --set deployment.latency.decode_scale=2").out);
  EXPECT_NE(plain.find("\"lengths\": \"assumed\""), std::string::npos) << plain;
  EXPECT_NE(plain, run("validate a.yaml --json --set study.validate.output_cv=0").out);
  EXPECT_NE(run("validate a.yaml --json --set repeats=3").out.find("predicted_sd"),
            std::string::npos);
  expect_error("validate a.yaml --set deployment.latency.decode_scales=2", "did you mean");
  expect_error("validate a.yaml --set study.validate.output_sv=2", "did you mean 'output_cv'?");
  expect_error("validate a.yaml --set study.validate.knee_from=2", "study.validate.overload_from");
}

TEST_F(Validate, ConfigurationsStandBesideTheCases) {
  fs::create_directory(folder_ / "cases");
  write("cases/own.yaml", run("config example").out);
  write("cases/own_cases.yaml",
        "seed: 3\ncases:\n- {id: a, config_file: own.yaml, regime: light, measured: {goodput: "
        "0.9}}\n");
  const Ended ended = run("validate cases/own_cases.yaml --json --set workload.requests=200");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\"regime_by\": \"stated\""), std::string::npos) << ended.out;
}

TEST_F(Validate, TheFolderIsTakenUpAgain) {
  ASSERT_EQ(run("validate --example --out v").code, 0);
  const std::string result = text_of(folder_ / "v/result.json");
  EXPECT_NE(result.find("\"kind\""), std::string::npos);
  ASSERT_EQ(run("validate --example --out v --jobs 1").code, 0);
  EXPECT_EQ(text_of(folder_ / "v/result.json"), result);
}

TEST_F(Validate, WhatIsWrongIsSaidInOneLine) {
  expect_error("validate", "expected a file of measured cases, or --example");
  expect_error("validate a.yaml --example", "expected one of them");
  expect_error("validate none.jsonl", "none.jsonl");
  write("a.jsonl", "{\"id\": \"a\"}\n{\"id\": \"b\", \"measured\"}\n");
  expect_error("validate a.jsonl", "a.jsonl:2: not valid JSON");
  write("b.yaml", std::string("- {id: a, ") + kCase + ", measured: {e2e_ms: {maen: 1}}}\n");
  expect_error("validate b.yaml", "b.yaml:1: unknown key");
}

}  // namespace
}  // namespace inferscale
