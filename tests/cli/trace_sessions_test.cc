// `inferscale trace sessions` from outside: figures of small files worked out by hand, and what is
// refused; and what `trace inspect` says about flags and about files of sessions.

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace inferscale {
namespace {

using TraceSessionsCli = Cli;

// Prompts of the first session go on with prompt and answer: 1000 + 50 and 1100 + 60 tokens before.
const std::string kCalls =
    R"({"session_id": "a", "arrival_time_ns": 0, "sub_requests": [)"
    R"({"input_toks": 1000, "output_toks": 50, "tool_duration_ns": 2000000000},)"
    R"({"input_toks": 1100, "output_toks": 60, "tool_duration_ns": 500000000},)"
    R"({"input_toks": 40000, "output_toks": 70}]})"
    "\n"
    R"({"session_id": "b", "arrival_time_ns": 5, "sub_requests": [)"
    R"({"input_toks": 300, "output_toks": 20}]})"
    "\n";

TEST_F(TraceSessionsCli, FiguresAreThoseWorkedOutByHand) {
  write("s.jsonl", kCalls);
  const Ended ended = run("trace sessions s.jsonl --json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["format"], "session_calls_jsonl");
  EXPECT_EQ(json["sessions"], 2);
  EXPECT_EQ(json["chains"], 2);
  EXPECT_EQ(json["sub_agents"], 0);
  EXPECT_EQ(json["calls"], 4);
  EXPECT_DOUBLE_EQ(json["session_turns"]["mean"], 2);
  EXPECT_EQ(json["first_prompt_tokens"]["max"], 1000);
  EXPECT_EQ(json["new_tokens"]["p50"], 50);
  EXPECT_EQ(json["new_tokens"]["max"], 40'000 - 1160);
  EXPECT_EQ(json["end_context_tokens"]["max"], 40'070);
  EXPECT_DOUBLE_EQ(json["tool_gap_s"]["mean"], 1.25);
  EXPECT_EQ(json["person_gap_s"], nlohmann::json({{"count", 0}}));
  EXPECT_DOUBLE_EQ(json["session_without_answers_s"]["max"], 2.5);
  EXPECT_DOUBLE_EQ(json["history_share"], (1050 + 1160) / 42'400.0);
  EXPECT_EQ(json["max_model_len_needed"], 40'070);
  EXPECT_EQ(json["beyond_context"][0]["max_model_len"], 32'768);
  EXPECT_EQ(json["beyond_context"][0]["sessions_beyond"], 1);
  EXPECT_EQ(json["beyond_context"][1]["calls_beyond"], 0);
}

TEST_F(TraceSessionsCli, TextHasATableAndTheReadersNotes) {
  write("s.jsonl", kCalls);
  const Ended ended = run("trace sessions s.jsonl --longest-gap 1.5");
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"s.jsonl: 2 sessions, format session_calls_jsonl\n  4 calls in 2 "
                           "chains, 0 of them sub-agents'\n",
                           "5.2 % of all prompt tokens", "needs max_model_len: 40070\n",
                           "turns a session", "tool gap, s", "1 (50.0 %)",
                           "Note: 1 gap cut to --longest-gap, 1.5 s: a derived workload"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
  EXPECT_EQ(ended.out.find("person gap"), std::string::npos) << "there is none\n" << ended.out;
}

// Sessions of fewer than three calls are alike by chance.
TEST_F(TraceSessionsCli, DuplicatesAreLeftOutAndCounted) {
  std::string copy = kCalls.substr(0, kCalls.find('\n') + 1);
  copy.replace(copy.find("\"a\""), 3, "\"c\"");
  write("s.jsonl", kCalls + copy);
  const auto json = nlohmann::json::parse(run("trace sessions s.jsonl --json").out);
  EXPECT_EQ(json["sessions"], 2);
  EXPECT_EQ(json["duplicates"], 1);
  EXPECT_EQ(json["duplicates_dropped"], 1);
}

TEST_F(TraceSessionsCli, WhatIsRefusedIsNamed) {
  write("s.jsonl", kCalls);
  expect_error("trace sessions absent.jsonl", "absent.jsonl");
  expect_error("trace sessions s.jsonl --format csv",
               "--format: 'csv': expected auto, claude_code_csv, ");
  expect_error("trace sessions s.jsonl --longest-gap -1",
               "--longest-gap: '-1': expected seconds from 0 to 1000000");
  expect_error("trace sessions s.jsonl --longest-gap 3s", "--longest-gap: '3s'");
  expect_error("trace sessions s.jsonl --format tracelab_jsonl", "s.jsonl:1: no key");
  write("t.csv", "arrival_time,prompt_tokens,output_tokens\n0,10,5\n");
  expect_error("trace sessions t.csv", "t.csv:1: unknown kind of session trace");
}

TEST_F(TraceSessionsCli, InspectNamesItsFlags) {
  const std::string header = "arrival_time,prompt_tokens,output_tokens\n";
  write("t.csv", header + "0,10,0\n1,10,5\n");
  expect_error("trace inspect t.csv", "a failed call; --skip-failed leaves such rows out");
  EXPECT_EQ(run("trace inspect t.csv --skip-failed").code, 0);
  write("t.csv", header + "1,10,5\n0,10,5\n");
  expect_error("trace inspect t.csv", "(--sort puts them in order)");
  EXPECT_EQ(run("trace inspect t.csv --sort").code, 0);
}

TEST_F(TraceSessionsCli, InspectPointsToTheCommandForSessions) {
  write("s.jsonl", kCalls);
  expect_error("trace inspect s.jsonl",
               "s.jsonl:1: agent sessions (session_calls_jsonl), no trace of single requests: "
               "expected `inferscale trace sessions`");
  expect_error("trace inspect s.jsonl --format session_calls_jsonl",
               "(`inferscale trace sessions` reads session_calls_jsonl)");
  write("t.yaml",
        "deployment: {model: llama-3.1-8b, hardware: l4}\nworkload: {trace: {file: s.jsonl}}\n");
  expect_error("simulate t.yaml", "expected workload.sessions.trace, and the command agents");
}

}  // namespace
}  // namespace inferscale
