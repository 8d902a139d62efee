// `inferscale agents` from outside: figures, folders, and what is refused.

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace inferscale {
namespace {

using AgentsCli = Cli;

// Two sessions at once on one serial station; steps take 10 ms, whatever is in them.
const std::string kTwo = R"(
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {service: serial, kv_block_tokens: 1}
  latency: {model: linear, step_us: 10000}
workload:
  arrivals: {process: constant, rate_rps: 1000}
  sessions:
    count: 2
    turns: {distribution: constant, value: 2}
    first_prompt_tokens: {distribution: constant, value: 100}
    appended_tokens: {distribution: constant, value: 20}
    output_tokens: {distribution: constant, value: 3}
    tool_gap: {distribution: constant, mean_s: 1}
slo: {ttft_ms: 30}
)";

TEST_F(AgentsCli, FiguresAreThoseWorkedOutByHand) {
  write("two.yaml", kTwo);
  const Ended ended = run("agents two.yaml --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  // Sessions begin at 1 and 2 ms. A call takes 30 ms: a prefill step and two more tokens. The
  // first session: 1 to 31 ms, then from 1031 to 1061; the second: 31 to 61, then 1061 to 1091
  // (ready at the very instant). TTFT 10, 39, 10, 10 ms.
  const auto sessions = nlohmann::json::parse(ended.out)["sessions"];
  EXPECT_EQ(sessions["complete"], 2) << sessions.dump(1);
  EXPECT_EQ(sessions["turns"]["finished"], 4);
  EXPECT_DOUBLE_EQ(sessions["turn_ttft_ms"]["mean"], (10 + 39 + 10 + 10) / 4.0);
  EXPECT_DOUBLE_EQ(sessions["turn_ttft_ms"]["max"], 39);
  EXPECT_DOUBLE_EQ(sessions["makespan_s"]["max"], 1.091 - 0.002);
}

TEST_F(AgentsCli, BothKindsOfWorkloadHaveTheirCommand) {
  write("two.yaml", kTwo);
  expect_error("simulate two.yaml",
               "workload.sessions: are agent sessions: expected `inferscale agents`");
  expect_error("agents " INFERSCALE_SOURCE_DIR "/configs/example.yaml",
               "workload: expected sessions");
  expect_error("capacity two.yaml", "workload.sessions: expected requests");
}

TEST_F(AgentsCli, WhatDoesNotGoTogetherIsSaid) {
  write("two.yaml", kTwo);
  expect_error("agents two.yaml --set deployment.engine.service=batched",
               "deployment.engine.prefix_caching: false, so the KV cache of a session is never "
               "found again");
  expect_error("agents two.yaml --stepwise",
               "--stepwise: expected deployment.engine.service: batched");
  expect_error("agents two.yaml --set workload.requests=5",
               "workload.requests: '5': expected no such key");
  expect_error("simulate --example --set deployment.engine.service=serial",
               "deployment.engine.service: serial serves agent sessions");
  expect_error("agents two.yaml --set workload.sessions.turnz=3", "turnz");
}

TEST_F(AgentsCli, AFolderHasALineForEachSessionAndCallAndAPage) {
  write("two.yaml", kTwo);
  const Ended ended = run("agents two.yaml --out r");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string sessions = text_of(folder_ / "r/sessions.jsonl");
  EXPECT_EQ(std::count(sessions.begin(), sessions.end(), '\n'), 2) << sessions;
  const std::string calls = text_of(folder_ / "r/calls.jsonl");
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 4) << calls;
  EXPECT_EQ(run("report r").code, 0);
  EXPECT_NE(text_of(folder_ / "r/report.html").find("makespan"), std::string::npos);
}

TEST_F(AgentsCli, SessionsHaveTheirOwnNamesInEveryFile) {
  write("two.jsonl", R"({"session_id":"fix","arrival_time_ns":0,"sub_requests":[)"
                     R"({"input_toks":100,"output_toks":3,"tool_duration_ns":5},)"
                     R"({"input_toks":120,"output_toks":2,"tool_duration_ns":0}]})"
                     "\n");
  write("two.yaml", R"(
deployment: {model: llama-3.1-8b, hardware: h100-sxm, engine: {prefix_caching: true}}
workload:
  arrivals: {process: constant, rate_rps: 1}
  sessions: {trace: {file: two.jsonl}}
)");
  const Ended ended = run("agents two.yaml --out r");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(text_of(folder_ / "r/sessions.jsonl").find("\"name\":\"fix\""), std::string::npos);
  EXPECT_NE(text_of(folder_ / "r/outcomes.jsonl").find("\"session\":\"fix\""), std::string::npos);
}

TEST_F(AgentsCli, SegmentsAndStepsGiveTheSameCalls) {
  const std::string few =
      "agents --example --set workload.sessions.count=8 --set "
      "deployment.engine.kv_cache_tokens=300000";
  ASSERT_EQ(run(few + " --verify --out jumps").code, 0);
  ASSERT_EQ(run(few + " --stepwise --out steps").code, 0);
  EXPECT_EQ(text_of(folder_ / "jumps/calls.jsonl"), text_of(folder_ / "steps/calls.jsonl"));
}

}  // namespace
}  // namespace inferscale
