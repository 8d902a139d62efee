// `inferscale ab` and `inferscale sensitivity` from outside.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace inferscale {
namespace {

constexpr char kSmallRuns[] = " --set workload.requests=60 --set study.ab.resamples=200";
constexpr char kFewDraws[] =
    " --set workload.requests=60 --set study.sensitivity.draws=3 --set repeats=1";

TEST_F(Cli, AbPrintsAVerdictAndTables) {
  const Ended ended = run(std::string("ab --example") + kSmallRuns);
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"(simulated)", "Verdict", "whole-prompts (ab_baseline.yaml)",
                           "deployment.engine.scheduler: continuous_fcfs -> vllm",
                           "10 repetitions of each", "* goodput", "95 % expanded"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
}

TEST_F(Cli, AbOfAFileWithItselfIsIdentical) {
  const std::string example = run("config example").out;
  write("a.yaml", example);
  write("b.yaml", example);
  const Ended ended = run(std::string("ab a.yaml b.yaml") + kSmallRuns);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("Identical in goodput, TTFT p95 and E2E p95"), std::string::npos)
      << ended.out;
  EXPECT_NE(ended.out.find("The two configurations are the same."), std::string::npos);
}

TEST_F(Cli, AbSettingsGoForBothAndTheRunsCanBeRepeated) {
  const Ended ended =
      run(std::string("ab --example --json --set seed=7 --set repeats=2") + kSmallRuns);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\"seed\": 7"), std::string::npos);
  EXPECT_NE(ended.out.find("\"verdict\": \"too_few_pairs\""), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("workload.requests"), std::string::npos);  // not a difference
  EXPECT_EQ(ended.out,
            run(std::string("ab --example --json --set seed=7 --set repeats=2") + kSmallRuns).out);
}

TEST_F(Cli, SensitivityPrintsWhatFlips) {
  const Ended ended = run(std::string("sensitivity --example") + kFewDraws);
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"(simulated)", "Verdict", "wins in", "of 3 draws",
                           "SLO:", "Who is ahead when one scale is changed by itself"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
}

TEST_F(Cli, TheManualShowsWhatTheExamplesPrint) {
  setenv("LC_ALL", "C.UTF-8", 1);
  for (const std::string command : {"ab", "sensitivity"}) {
    const std::string out = run(command + " --example").out;
    const std::string page = text_of(INFERSCALE_SOURCE_DIR "/docs/commands/" + command + ".md");
    EXPECT_FALSE(out.empty());
    EXPECT_NE(page.find("```\n" + out + "```"), std::string::npos)
        << "put this into docs/commands/" << command << ".md:\n"
        << out;
  }
  unsetenv("LC_ALL");
}

constexpr char kService[] =
    "name: one\n"
    "workload:\n"
    "  requests: 60\n"
    "  arrivals: {process: poisson, rate_rps: 5}\n"
    "  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}\n"
    "  output_tokens: {distribution: lognormal, mean: 64, cv: 0.8}\n"
    "slo: {ttft_ms: 500, itl_ms: 50}\n"
    "deployment: {model: llama-3.1-8b, hardware: h100-sxm";

TEST_F(Cli, ATreatmentCanBeTheBaselineWithKeysChanged) {
  write("a.yaml", std::string(kService) + "}\n");
  write("b.yaml", std::string(kService) + ", replicas: 3, engine: {max_num_seqs: 9}}\n");
  const std::string two_keys =
      " --change deployment.replicas=3 --change deployment.engine.max_num_seqs=9";
  const Ended changed = run("ab a.yaml --json --set study.ab.resamples=200 --out study" + two_keys);
  ASSERT_EQ(changed.code, 0) << changed.err;
  std::string expected = run("ab a.yaml b.yaml --json --set study.ab.resamples=200").out;
  const std::size_t file = expected.find("b.yaml");
  ASSERT_NE(file, std::string::npos) << expected;
  EXPECT_EQ(changed.out, expected.replace(file, 6, "a.yaml" + two_keys));
  EXPECT_NE(expected.find("\"key\": \"deployment.replicas\""), std::string::npos) << expected;
  const std::string plan = text_of(folder_ / "study" / "study.json");
  EXPECT_NE(plan.find("\"max_num_seqs\": 9"), std::string::npos) << plan;
  EXPECT_NE(text_of(folder_ / "study" / "runs.jsonl").find("a.yaml" + two_keys), std::string::npos);
  const Ended flips =
      run("sensitivity a.yaml --change deployment.replicas=3" + std::string(kFewDraws));
  EXPECT_EQ(flips.code, 0) << flips.err;
  EXPECT_NE(flips.out.find("Changed    deployment.replicas: 1 -> 3\n"), std::string::npos)
      << flips.out;
}

TEST_F(Cli, ChangesAreErrorsWhereTheyCannotBe) {
  write("a.yaml", std::string(kService) + "}\n");
  for (const std::string command : {"ab", "sensitivity"}) {
    expect_error(command + " a.yaml b.yaml --change deployment.replicas=2",
                 "'b.yaml' and --change: expected the baseline's file alone");
    expect_error(command + " --example --change deployment.replicas=2", "--example and --change");
    expect_error(command + " --change deployment.replicas=2", "expected two configuration files");
    expect_error(command + " a.yaml --change deployment.replica=2",
                 "--change: unknown key 'deployment.replica'");
    expect_error(command + " a.yaml --change deployment.replicas", "expected key.path=value");
  }
}

TEST_F(Cli, ComparisonsWantTwoConfigurations) {
  for (const std::string command : {"ab", "sensitivity"}) {
    expect_error(command, "expected two configuration files");
    expect_error(command + " a.yaml", "expected two configuration files");
    expect_error(command + " a.yaml b.yaml --example", "'a.yaml' and --example");
    expect_error(command + " --example --set study.ab.resample=3", "resample");
    expect_error(command + " a.yaml b.yaml", "a.yaml");
  }
}

}  // namespace
}  // namespace inferscale
