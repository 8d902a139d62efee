// `inferscale explore` from outside: candidates, their errors, what is printed and written.

#include "cli/program.h"

namespace inferscale {
namespace {

using ExploreCli = Cli;

constexpr const char* kChat = R"(
name: chat
deployment: {model: llama-3.1-8b, hardware: h100-sxm}
workload:
  requests: 100
  arrivals: {process: poisson, rate_rps: 5}
  prompt_tokens: {distribution: lognormal, mean: 512, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 128, cv: 0.8}
slo: {ttft_ms: 500, itl_ms: 50}
repeats: 2
)";

std::int64_t count_of(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(ExploreCli, TheExampleIsTheBoundedGrid) {
  const Ended ended = run("explore --example --set workload.requests=100");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("chat-design: 17 of 17 candidates simulated\n")) << ended.out;
  for (const char* part : {"continuous_sjf, batch 16", "continuous_slo, batch 64, cached",
                           "2P:1D, cached", "Most goodput", "TTFT p95, ms"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
}

TEST_F(ExploreCli, WithoutADeadlineItsSchedulersAreListed) {
  write("chat.yaml", kChat);
  const Ended ended = run("explore chat.yaml");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("chat: 13 of 17 candidates simulated\n"), std::string::npos);
  EXPECT_EQ(count_of(ended.out, "expected slo.e2e_ms"), 4) << ended.out;
}

TEST_F(ExploreCli, VaryMakesAGridInPlaceOfTheFiles) {
  write("chat.yaml", std::string(kChat) + "study: {explore: {grid: {deployment.replicas: [1]}}}\n");
  const Ended ended =
      run("explore chat.yaml --json --vary deployment.replicas=1,2 --vary "
          "'deployment.engine.max_num_seqs={min: 8, max: 32, points: 3}'");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("{\n  \"kind\": \"explore\",\n  \"simulated\": true,\n"));
  EXPECT_EQ(count_of(ended.out, "\"failure\": null"), 6);
  EXPECT_NE(ended.out.find("\"name\": \"replicas=2 max_num_seqs=20\""), std::string::npos);
}

TEST_F(ExploreCli, WrongCandidatesAreErrorsBeforeAFolderIsMade) {
  write("chat.yaml", kChat);
  expect_error("explore chat.yaml --out study --vary deployment.replica=1,2",
               "--vary: candidate 'replica=1': unknown key 'deployment.replica' (value '1'): did "
               "you mean 'replicas'?");
  expect_error("explore chat.yaml --out study --vary deployment.hardware=h100-sxm,nonesuch",
               "nonesuch");
  expect_error("explore chat.yaml --out study --vary deployment.replicas",
               "expected key.path=value");
  expect_error("explore chat.yaml --out study --vary 'deployment.replicas=[1'", "--vary: ");
  expect_error(
      "explore chat.yaml --out study --vary deployment.replicas=1 --vary "
      "deployment.replicas=2",
      "--vary: 'deployment.replicas' is given twice");
  expect_error("explore chat.yaml --out study --set slo=null", "slo: missing");
  expect_error("explore chat.yaml --example", "expected one of them");
  expect_error("explore", "or --example");
  EXPECT_FALSE(fs::exists(folder_ / "study"));
}

TEST_F(ExploreCli, WhatDoesNotFitIsListed) {
  write("chat.yaml", kChat);
  const Ended ended = run("explore chat.yaml --vary deployment.model=llama-3.1-8b,llama-3.1-70b");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("1 of 2 candidates could not be simulated:\n  model=llama-3.1-70b: "),
            std::string::npos)
      << ended.out;
}

TEST_F(ExploreCli, ADerivedWorkloadIsSaid) {
  write("trace.csv",
        "arrival_time,prompt_tokens,output_tokens\n0,100,20\n1,200,30\n2,50,10\n3,80,20\n");
  write("replay.yaml",
        "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
        "workload: {trace: {file: trace.csv}}\nslo: {ttft_ms: 500}\n");
  const Ended ended = run("explore replay.yaml --vary workload.trace.rate_scale=1,2,3");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(count_of(ended.out, "Note: Candidate rate_scale=2: Derived workload: "), 1);
  EXPECT_EQ(count_of(ended.out, "Note: Candidate rate_scale=3: Derived workload: "), 1);
  EXPECT_EQ(count_of(ended.out, "All repetitions gave the same figures"), 1);
}

TEST_F(ExploreCli, AFolderHoldsTheSameBytesForAnyNumberOfJobs) {
  write("chat.yaml", kChat);
  const std::string line = "explore chat.yaml --vary deployment.engine.max_num_seqs=4,8,16";
  const Ended one = run(line + " --jobs 1 --out one");
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(run(line + " --jobs 3 --out three").code, 0);
  for (const char* file : {"study.json", "runs.jsonl", "result.json"}) {
    EXPECT_FALSE(text_of(folder_ / "one" / file).empty()) << file;
    EXPECT_EQ(text_of(folder_ / "one" / file), text_of(folder_ / "three" / file)) << file;
  }
}

TEST_F(ExploreCli, TheOptionsThatItNamesMakeTheCandidate) {
  write("chat.yaml", kChat);
  const Ended study =
      run("explore chat.yaml --json --set repeats=1 --vary "
          "deployment.engine.max_num_seqs=4 --vary deployment.hardware=l40s");
  ASSERT_EQ(study.code, 0) << study.err;
  const Ended alone =
      run("simulate chat.yaml --json --set deployment.engine.max_num_seqs=4 --set "
          "deployment.hardware=l40s");
  ASSERT_EQ(alone.code, 0) << alone.err;
  const std::size_t ttft = alone.out.find("\"p95\": ", alone.out.find("\"ttft_ms\""));
  ASSERT_NE(ttft, std::string::npos) << alone.out;
  const std::string p95 =
      alone.out.substr(ttft + 7, alone.out.find_first_of(",\n", ttft) - ttft - 7);
  const std::size_t found = study.out.find("\"ttft_ms_p95\": {");
  EXPECT_NE(study.out.find("\"mean\": " + p95, found), std::string::npos) << p95 << study.out;
}

}  // namespace
}  // namespace inferscale
