// The program from outside: what it prints and how it ends, for good input and for bad.

#include "cli/program.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace inferscale {
namespace {

constexpr char kSmall[] = "simulate --example --set workload.requests=300 ";

TEST_F(Cli, ExamplePrintsTableAndPicture) {
  const Ended ended = run(kSmall);
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"(simulated)", "TTFT", "Goodput", "of all 300 arrivals", "KV cache",
                           "accelerator-hours per million output tokens", "100 %", "queue"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
  EXPECT_EQ(ended.err, "");  // no progress when it is not a terminal
}

TEST_F(Cli, ANameThatATerminalWouldObeyIsRefused) {
  write("c.yaml", "name: \"a\\e[31mb\"\n");
  expect_error("simulate c.yaml", "expected text without control characters");
}

TEST_F(Cli, SaysWhenPromptsAndPrefixCacheHaveNothingToDoWithEachOther) {
  const std::string cached = std::string(kSmall) + "--set deployment.engine.prefix_caching=true ";
  const std::string shared = "--set 'workload.shared_prefix={tokens: 100, hit_probability: 0.5}' ";
  EXPECT_NE(run(cached).out.find("Nothing is known of what prompts share"), std::string::npos);
  EXPECT_NE(run(kSmall + shared).out.find("no replica keeps them"), std::string::npos);
  EXPECT_EQ(run(cached + shared).out.find("Note:"), std::string::npos);
  write("t.csv", "arrival_time,prompt_tokens,output_tokens,session\n0,100,10,a\n1,200,10,a\n");
  write("c.yaml",
        "deployment: {model: llama-3.1-8b, hardware: h100-sxm, "
        "engine: {prefix_caching: true}}\nworkload: {trace: {file: t.csv}}\n");
  EXPECT_NE(run("simulate c.yaml").out.find("a session column alone"), std::string::npos);
}

TEST_F(Cli, SameSeedSameBytesAndAnotherSeedOthers) {
  const std::string first = run(std::string(kSmall) + "--json --out a").out;
  EXPECT_EQ(first, run(std::string(kSmall) + "--json --out b").out);
  EXPECT_NE(first, run(std::string(kSmall) + "--json --set seed=7").out);
  for (const char* file : {"manifest.json", "summary.json", "outcomes.jsonl", "signals.jsonl"}) {
    EXPECT_EQ(text_of(folder_ / "a" / file), text_of(folder_ / "b" / file)) << file;
    EXPECT_NE(text_of(folder_ / "a" / file), "") << file;
  }
}

TEST_F(Cli, StepwiseAndSegmentsWriteTheSameOutcomes) {
  ASSERT_EQ(run(std::string(kSmall) + "--out a --verify").code, 0);
  ASSERT_EQ(run(std::string(kSmall) + "--out b --verify --stepwise").code, 0);
  EXPECT_EQ(text_of(folder_ / "a/outcomes.jsonl"), text_of(folder_ / "b/outcomes.jsonl"));
  EXPECT_EQ(text_of(folder_ / "a/signals.jsonl"), text_of(folder_ / "b/signals.jsonl"));
}

TEST_F(Cli, OutcomesDoNotDependOnTheSamplingInterval) {
  ASSERT_EQ(run(std::string(kSmall) + "--out a").code, 0);
  ASSERT_EQ(run(std::string(kSmall) + "--out b --set output.signals_interval_s=0.013").code, 0);
  EXPECT_EQ(text_of(folder_ / "a/outcomes.jsonl"), text_of(folder_ / "b/outcomes.jsonl"));
}

TEST_F(Cli, ReferenceIsAConfigurationOnceItsRequiredKeysAreFilledIn) {
  const Ended reference = run("config reference");
  ASSERT_EQ(reference.code, 0);
  write("reference.yaml", reference.out);
  const Ended ended =
      run("simulate reference.yaml --json --set workload.requests=50 --set "
          "deployment.model=llama-3.1-8b "
          "--set deployment.hardware=h100-sxm --set workload.arrivals.rate_rps=5 "
          "--set workload.prompt_tokens.mean=100 --set workload.prompt_tokens.cv=1 "
          "--set workload.output_tokens.mean=20 --set workload.output_tokens.cv=1");
  EXPECT_EQ(ended.code, 0) << ended.err;
  // And it is the file that is kept with the scenarios.
  EXPECT_EQ(reference.out, text_of(INFERSCALE_SOURCE_DIR "/configs/reference.yaml"))
      << "run: inferscale config reference > configs/reference.yaml";
}

TEST_F(Cli, ReadmeShowsWhatTheExamplePrints) {
  const std::string readme = text_of(INFERSCALE_SOURCE_DIR "/README.md");
  setenv("LC_ALL", "C.UTF-8", 1);
  const std::string out = run("simulate --example").out;
  unsetenv("LC_ALL");
  ASSERT_FALSE(out.empty());
  EXPECT_NE(readme.find("```\n" + out + "```"), std::string::npos)
      << "put this between the example marks of README.md:\n"
      << out;
}

TEST_F(Cli, EveryScenarioRunsAndHoldsItsInvariants) {
  int scenarios = 0;
  for (const auto& entry : fs::directory_iterator(INFERSCALE_SOURCE_DIR "/configs")) {
    const fs::path stem = entry.path().stem();
    if (entry.path().extension() != ".yaml" || stem == "reference") continue;
    if (stem == "validation_example") continue;  // measured cases, no configuration
    const std::string fewer =
        stem == "agents" ? "workload.sessions.count=10" : "workload.requests=400";
    const Ended ended = run((stem == "agents" ? "agents '" : "simulate '") + entry.path().string() +
                            "' --verify --json --set " + fewer);
    EXPECT_EQ(ended.code, 0) << entry.path() << "\n" << ended.err;
    ++scenarios;
  }
  EXPECT_GE(scenarios, 6);
}

TEST_F(Cli, ExampleFileIsTheExample) {
  write("example.yaml", run("config example").out);
  EXPECT_EQ(run("simulate example.yaml --json --set workload.requests=50").out,
            run("simulate --example --json --set workload.requests=50").out);
}

TEST_F(Cli, TraceIsReplayedRowByRow) {
  write("own.csv",
        "arrival_time,prompt_tokens,output_tokens,tenant\n0.5,100,5,a\n0.75,200,1,b\n2,50,3,a\n");
  write("own.yaml",
        "deployment: {model: llama-3.1-8b, hardware: l4}\nworkload: {trace: {file: own.csv}}\n");
  const Ended ended = run("simulate own.yaml --out r");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string outcomes = text_of(folder_ / "r/outcomes.jsonl");
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), '\n'), 3);
  EXPECT_NE(outcomes.find("\"arrival_ns\":750000000"), std::string::npos) << outcomes;
  EXPECT_NE(outcomes.find("\"tenant\":\"b\""), std::string::npos) << outcomes;
  EXPECT_EQ(run("report r").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "r/report.html"));
}

TEST_F(Cli, MistypedCommandsAndOptionsGetASuggestion) {
  expect_error("simulte", "did you mean 'simulate'?");
  expect_error("simulate --exmaple", "did you mean '--example'?");
  expect_error("trace inspct", "did you mean 'inspect'?");
  expect_error("simulate", "expected a configuration file, or --example");
  expect_error("simulate a.yaml --example", "expected one of them");
}

TEST_F(Cli, BadConfigurationFilesAreOneErrorEach) {
  write("empty.yaml", "");
  write("binary.yaml", std::string("\x7f"
                                   "ELF\0\xff\xfe",
                                   8));
  write("list.yaml", "- a\n- b\n");
  write("twice.yaml", "name: a\nname: b\n");
  write("bomb.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n");
  write("open.yaml", "name: [a, b\n");
  fs::create_directory(folder_ / "folder.yaml");
  expect_error("simulate empty.yaml", "empty.yaml: the configuration is empty");
  expect_error("simulate binary.yaml", "binary.yaml");
  expect_error("simulate list.yaml", "list.yaml:1: the configuration is a list");
  expect_error("simulate twice.yaml", "twice.yaml:2: the key 'name' stands twice");
  expect_error("simulate bomb.yaml", "bomb.yaml:1: an anchor");
  expect_error("simulate open.yaml", "open.yaml:1");
  expect_error("simulate folder.yaml", "folder.yaml: is a folder");
  expect_error("simulate missing.yaml", "missing.yaml: cannot be opened");
}

TEST_F(Cli, BadValuesNameKeyValueAndExpectation) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"workload.arrivals.rate_rps=-1", "workload.arrivals.rate_rps: '-1': expected a number"},
      {"workload.arrivals.rate_rps=.nan", "workload.arrivals.rate_rps: '.nan'"},
      {"workload.arrivals.rate_rps=1e308", "workload.arrivals.rate_rps: '1e308'"},
      {"workload.output_tokens.mean=0", "workload.output_tokens.mean: '0'"},
      {"workload.requests=0", "workload.requests: '0': expected a whole number of at least 1"},
      {"workload.arrivals.rate_rp=3", "did you mean 'rate_rps'?"},
      {"deployment.engine.max_num_seqs=1.5", "expected a whole number"},
      {"deployment.engine=5", "deployment.engine: '5': expected a map of keys"},
      {"deployment.model=llama-3.1-9b", "did you mean 'llama-3.1-8b'?"},
      {"deployment.hardware=h100-sxn", "did you mean 'h100-sxm'?"},
      {"deployment.model=llama-3.1-405b", "does not fit on h100-sxm"},
      {"deployment.parallel.tensor=7", "expected a divisor of the 32 attention heads"},
      {"deployment.replicas=0", "expected a whole number of at least 1"},
      {"deployment.router.policy=least_lod", "did you mean 'least_load'?"},
      {"deployment.engine.scheduler=continuous_slo", "expected slo.e2e_ms"},
      {"deployment.engine.scheduling_policy=priority", "expected fcfs: only the schedulers vllm"},
      {"admission.policy=kv_treshold", "did you mean kv_threshold?"},
      {"admission.parameters.max_waiting=4", "unknown key"},
      {"admission.policy=rate_limit", "needs the tenant of a request"},
      {"admission.enforce=1.5", "admission.enforce"},
      {"admission.status={queue_dept: 429}", "is no reason"},
      {"signals.on_stale=shut", "signals.on_stale"},
      {"clients.profile=claude_cod", "did you mean"},
      {"tenants={a: {in_flight: 3}}", "the requests have no tenants"},
      {"slo.itl_rule=p99", "did you mean 'p95'?"},
      {"seed.x=1", "no key 'x' can be set in '42'"},
      {"nonsense", "expected key.path=value"},
  };
  for (const auto& [setting, part] : cases) {
    expect_error("simulate --example --set '" + setting + "'", part);
  }
}

TEST_F(Cli, AnEmptyPathIsNotAPath) {
  expect_error("simulate --example --out ''", "--out: '': expected a value");
}

TEST_F(Cli, DecisionTracesReplaceOnlyThemselves) {
  const std::string small = std::string(kSmall);
  ASSERT_EQ(run(small + "--decisions d.jsonl --chrome-trace c.json").code, 0);
  EXPECT_NE(text_of(folder_ / "d.jsonl").find("\"event\":\"step\""), std::string::npos);
  ASSERT_EQ(run(small + "--decisions d.jsonl --chrome-trace c.json").code, 0);
  write("mine.yaml", "name: x\n");
  expect_error(small + "--decisions mine.yaml", "is not one that --decisions wrote");
  EXPECT_EQ(text_of(folder_ / "mine.yaml"), "name: x\n");
  expect_error(small + "--decisions same --chrome-trace ./same", "expected two different files");
  expect_error(small + "--out r --decisions r/outcomes.jsonl", "the run folder has a file");
  expect_error(small + "--stepwise --decisions d.jsonl", "--stepwise and --decisions");
}

TEST_F(Cli, TimeDownIsNotPaidFor) {
  const Ended ended =
      run(std::string(kSmall) + "--set 'deployment.failures=[{replica: 0, at_s: 0}]' --json");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.out.find("\"accelerator_hours\": 0,"), std::string::npos) << ended.out;
}

TEST_F(Cli, BadTracesNameFileLineAndColumn) {
  const std::string config =
      "deployment: {model: llama-3.1-8b, hardware: l4}\nworkload: {trace: {file: t.csv}}\n";
  write("t.yaml", config);
  const std::string header = "arrival_time,prompt_tokens,output_tokens\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t.csv: empty file"},
      {header + "0,10,0\n", "t.csv:2"},
      {header + "0,10,5\n1,ten,5\n", "t.csv:3"},
      {header + "1,10,5\n0.5,10,5\n", "t.csv:3"},
      {header + "nan,10,5\n", "t.csv:2"},
      {header + "0,10\n", "t.csv:2"},
      {"time,prompt,output\n0,1,1\n", "t.csv:1"},
  };
  for (const auto& [text, part] : cases) {
    write("t.csv", text);
    expect_error("simulate t.yaml", part);
    expect_error("trace inspect t.csv", part);
  }
}

TEST_F(Cli, PromptLargerThanTheKvCacheIsRefusedWithItsReason) {
  const Ended ended = run(
      "simulate --example --set workload.requests=3 --set deployment.engine.kv_cache_tokens=320 "
      "--set 'workload.prompt_tokens={distribution: constant, value: 1000}'");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("3 refused (exceeds_kv_cache 3)"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("0.0 % of all 3 arrivals"), std::string::npos) << ended.out;
}

TEST_F(Cli, ModelWrittenAsNullIsMissing) {
  expect_error("simulate --example --set deployment.model=null", "deployment.model: missing");
}

TEST_F(Cli, LongIdleRunsKeepABoundedNumberOfSamples) {
  const Ended ended =
      run("simulate --example --set workload.requests=3000 "
          "--set workload.arrivals.rate_rps=0.001");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("not as often as asked for"), std::string::npos) << ended.out;
}

TEST_F(Cli, QuantisedModelsAndLateTracesAreSaid) {
  EXPECT_NE(run("simulate --example --set workload.requests=20 --set deployment.model=gpt-oss-20b")
                .out.find("deployment.precision.weights: native"),
            std::string::npos);
  write("late.csv", "arrival_time,prompt_tokens,output_tokens\n1700000000,10,2\n1700000001,10,2\n");
  write("late.yaml",
        "deployment: {model: llama-3.1-8b, hardware: l4}\nworkload: {trace: {file: late.csv}}\n");
  const Ended late = run("simulate late.yaml");
  EXPECT_EQ(late.code, 0) << late.err;
  EXPECT_NE(late.out.find("idles until then"), std::string::npos) << late.out;
}

TEST_F(Cli, RunsBeyondTheEndOfTimeAreAnErrorNotACrash) {
  const std::string endless =
      "simulate --example --set workload.requests=3 --set deployment.engine.max_model_len=1e8 "
      "--set deployment.engine.kv_cache_tokens=1e9 "
      "--set 'deployment.latency={model: linear, step_us: 1e9}' "
      "--set 'workload.output_tokens={distribution: constant, value: 10000000}'";
  expect_error(endless, "more than 127 years of simulated time");
  expect_error(endless +
                   " --stepwise --set workload.arrivals.rate_rps=0.001 "
                   "--set deployment.latency.prefill_scale=1000 "
                   "--set deployment.latency.step_us=1e9 "
                   "--set 'workload.prompt_tokens={distribution: constant, value: 9000000}' "
                   "--set deployment.latency.prefill_us_per_token=1e9",
               "more than 127 years of simulated time");
}

TEST_F(Cli, FilesThatNoRunWroteAreLeftAlone) {
  fs::create_directory(folder_ / "mine");
  write("mine/summary.json", "my own");
  expect_error(std::string(kSmall) + "--out mine", "mine: holds 'summary.json' and no manifest");
  EXPECT_EQ(text_of(folder_ / "mine/summary.json"), "my own");
}

TEST_F(Cli, ARunReplacesTheOneBeforeAndItsPage) {
  ASSERT_EQ(run(std::string(kSmall) + "--out r").code, 0);
  ASSERT_EQ(run("report r").code, 0);
  ASSERT_EQ(run(std::string(kSmall) + "--out r --set seed=7").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "r/report.html"));
  EXPECT_EQ(run("report r").code, 0);
}

TEST_F(Cli, TwoRunsThatWriteOneFolderLeaveAWholeOne) {
  for (int trial = 0; trial < 4; ++trial) {
    const Ended ended = run("--version; for seed in 1 2 3; do '" INFERSCALE_BINARY
                            "' simulate --example --set "
                            "workload.requests=$((2000 * seed)) --set seed=$seed --out r "
                            ">/dev/null & pids=\"$pids $!\"; "
                            "done; for pid in $pids; do wait $pid || exit 9; done");
    ASSERT_EQ(ended.code, 0) << ended.err;
    // The reader checks that the outcomes are as many as the summary says.
    EXPECT_EQ(run("report r").code, 0);
  }
}

TEST_F(Cli, KvCacheLargerThanMemoryIsSaid) {
  const std::string note = "the memory of the accelerators leaves room for";
  const std::string size = std::string(kSmall) + "--set deployment.engine.kv_cache_tokens=";
  EXPECT_NE(run(size + "1e9").out.find(note), std::string::npos);
  EXPECT_NE(run(size + "1e9 --set deployment.model=deepseek-v3").out.find(note + " 0"),
            std::string::npos);
  EXPECT_EQ(run(size + "100000").out.find(note), std::string::npos);
}

TEST_F(Cli, OverloadIsSaidAndItsAbsenceIsNot) {
  const std::string overload = "Requests came faster than they were served";
  const std::string rate = " --set workload.arrivals.rate_rps=";
  const Ended overloaded = run("simulate --example --out r" + rate + "200");
  EXPECT_NE(overloaded.out.find("Note: " + overload), std::string::npos) << overloaded.out;
  EXPECT_NE(text_of(folder_ / "r/manifest.json").find(overload), std::string::npos);
  EXPECT_EQ(run("simulate --example" + rate + "10").out.find(overload), std::string::npos);
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAnErrorAndLeavesNothingHalf) {
  write("file", "x");
  const Ended in_the_way = run(std::string(kSmall) + "--out file");
  EXPECT_EQ(in_the_way.code, 1);
  EXPECT_NE(in_the_way.err.find("file: cannot make the folder"), std::string::npos);
  EXPECT_EQ(text_of(folder_ / "file"), "x");
  // /dev/full is a disk without room.
  const std::string command = "'" INFERSCALE_BINARY "' " + std::string(kSmall) +
                              " > /dev/full 2> '" + (folder_ / ".err").string() + "'";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_NE(text_of(folder_ / ".err").find("standard output could not be written"),
            std::string::npos);
}

TEST_F(Cli, InterruptedRunKeepsWhatHadFinished) {
  // Long enough that the signal finds it at work; `wait` hands its exit code on.
  const std::string script =
      "simulate --example --set workload.requests=20000000 --set output.outcomes=false --out r & "
      "sleep 0.5; kill -INT $!; wait $!";
  const Ended ended =
      run("--version >/dev/null; trap '' INT; trap - INT; '" INFERSCALE_BINARY "' " + script);
  EXPECT_EQ(ended.code, 130) << ended.err;
  const std::string manifest = text_of(folder_ / "r/manifest.json");
  EXPECT_NE(manifest.find("\"complete\": false"), std::string::npos) << manifest;
  EXPECT_NE(text_of(folder_ / "r/summary.json").find("\"finished\""), std::string::npos);
}

}  // namespace
}  // namespace inferscale
