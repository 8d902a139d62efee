// The command `replay`: logs of real runs, decided and simulated anew; and what is no log.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace inferscale {
namespace {

using Json = nlohmann::json;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A run of two small engines with more than they can take: hold, half of the traffic governed,
// pages that get too old, clients that come again.
constexpr const char* kRun = R"(name: busy
seed: 5
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  replicas: 2
  engine: {max_num_seqs: 6, kv_cache_tokens: 12000}
workload:
  requests: 300
  arrivals: {process: gamma, cv: 2, rate_rps: 12}
  prompt_tokens: {distribution: lognormal, mean: 900, cv: 1}
  output_tokens: {distribution: lognormal, mean: 200, cv: 1}
  prefixes:
    tenants: 4
    system_prompt_tokens: {distribution: constant, value: 256}
slo: {ttft_ms: 1500, itl_ms: 100}
clients: {profile: openai_sdk}
signals: {scrape_interval_s: 0.9, max_age_s: 0.7}
admission:
  policy: queue_depth
  parameters: {max_waiting: 1, each: replica, then: defer}
  enforce: 0.5
  enforce_by: request
  hold: {most: 20, longest_s: 0.8}
)";

class ReplayCli : public Cli {
 protected:
  void record(const std::string& settings = {}) {
    write("run.yaml", kRun);
    const Ended ended = run("simulate run.yaml --json --out run " + settings);
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  Json replay(const std::string& flags) {
    const Ended ended = run("replay run/decisions.jsonl --json " + flags);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? Json::parse(ended.out) : Json::object();
  }
  // Lines of the log without its first one.
  std::int64_t recorded_decisions() {
    const std::string log = text_of(folder_ / "run/decisions.jsonl");
    return std::count(log.begin(), log.end(), '\n') - 1;
  }
};

TEST_F(ReplayCli, TheSamePolicyDecidesTheSame) {
  record();
  const Json replayed = replay("");
  const Json& open = replayed.at("open_loop");
  EXPECT_EQ(replayed.at("recorded_policy"), "queue_depth");
  EXPECT_EQ(replayed.at("as_recorded"), true);
  EXPECT_EQ(open.at("decisions").get<std::int64_t>() + open.at("of_the_gate").get<std::int64_t>() +
                open.at("partly_old").get<std::int64_t>(),
            recorded_decisions());
  EXPECT_GT(open.at("in_shadow"), 0);
  EXPECT_GT(open.at("about_held"), 0);
  EXPECT_GT(open.at("stale_recorded"), 0);
  EXPECT_EQ(open.at("differ"), 0);
  EXPECT_EQ(open.at("differ_in_wait"), 0);
  const Ended text = run("replay run/decisions.jsonl");
  EXPECT_TRUE(has(text.out, "policy queue_depth, as recorded")) << text.out;
  EXPECT_TRUE(has(text.out, "Differ     0 of "));
  EXPECT_TRUE(has(text.out, "refusals here do not change later state")) << text.out;
  EXPECT_TRUE(has(text.out, "not a refusal rate"));
}

TEST_F(ReplayCli, F21TheRestOfTheRecordedConfigurationStays) {
  record();
  // The policy, the share that it governs and the stale rule as recorded; one parameter changed.
  const Json changed = replay("max_waiting=0").at("open_loop");
  const Json same = replay("max_waiting=1").at("open_loop");
  EXPECT_EQ(same.at("differ"), 0);
  EXPECT_GT(changed.at("differ"), 0);
  EXPECT_EQ(changed.at("in_shadow"), same.at("in_shadow"));
  EXPECT_EQ(changed.at("stale_replayed"), same.at("stale_recorded"));
  // Named anew, it has its defaults: rejects, and counts the whole pool.
  const Json named = replay("--policy queue_depth max_waiting=1").at("open_loop");
  EXPECT_GT(named.at("differ"), 0);
}

TEST_F(ReplayCli, F17_AnotherPolicyDecidesTheRecordedStates) {
  record();
  const Json replayed = replay("--policy fixed_concurrency limit=8");
  const Json& open = replayed.at("open_loop");
  EXPECT_EQ(replayed.at("policy"), "fixed_concurrency");
  std::int64_t decisions = 0;
  std::int64_t differ = 0;
  for (const Json& cell : open.at("table")) {
    decisions += cell.at("decisions").get<std::int64_t>();
    if (cell.at("recorded") != cell.at("replayed")) {
      differ += cell.at("decisions").get<std::int64_t>();
    }
  }
  EXPECT_EQ(decisions, open.at("decisions"));
  EXPECT_EQ(differ, open.at("differ"));
  EXPECT_EQ(open.at("stale_replayed"), 0);  // of the ledger's signals, which are never old
  ASSERT_EQ(open.at("first_differences").size(), 5U);
  // The log itself says what the policy had to decide: refuse with 8 or more in flight.
  for (const Json& each : open.at("first_differences")) {
    EXPECT_EQ(each.at("replayed").at("verdict") == "admit", each.at("readings").at("in_flight") < 8)
        << each;
  }
  const Json none = replay("--policy none").at("open_loop");
  EXPECT_EQ(none.at("duty_cycle").at("replayed").at("refusing"), 0);
}

TEST_F(ReplayCli, ClosedLoopOfTheSamePolicyIsIdentical) {
  record();
  const Json replayed = replay("--closed-loop");
  const Json& closed = replayed.at("closed_loop");
  EXPECT_EQ(closed.at("identical"), true);
  EXPECT_EQ(closed.at("decisions"), recorded_decisions());
  EXPECT_EQ(closed.at("recorded"), closed.at("replayed"));
  EXPECT_EQ(closed.at("paired").at("recorded_only"), 0);
  EXPECT_EQ(closed.at("paired").at("replayed_only"), 0);
  // The figures are those of the recorded run's own summary.
  const Json summary = Json::parse(text_of(folder_ / "run/summary.json"));
  EXPECT_EQ(closed.at("recorded").at("goodput"), summary.at("admission").at("slo").at("goodput"));
  EXPECT_EQ(closed.at("recorded").at("ttft_ms_p95"), summary.at("ttft_ms").at("p95"));
  const Ended text = run("replay run/decisions.jsonl --closed-loop");
  EXPECT_TRUE(has(text.out, "identical: all ")) << text.out;
}

TEST_F(ReplayCli, ClosedLoopOfAnotherPolicyIsThatPolicysRun) {
  record();
  const Json closed = replay("--closed-loop --policy aimd").at("closed_loop");
  EXPECT_EQ(closed.at("identical"), false);
  EXPECT_EQ(closed.at("recorded_repeats"), true);
  // The same configuration, simulated from the beginning.
  const Ended other =
      run("simulate run.yaml --json --set admission.policy=aimd --set admission.parameters={}");
  ASSERT_EQ(other.code, 0) << other.err;
  const Json summary = Json::parse(other.out);
  EXPECT_EQ(closed.at("replayed").at("goodput"), summary.at("admission").at("slo").at("goodput"));
  EXPECT_EQ(closed.at("replayed").at("ttft_ms_p50"), summary.at("ttft_ms").at("p50"));
  const Json& paired = closed.at("paired");
  EXPECT_EQ(paired.at("both").get<int>() + paired.at("recorded_only").get<int>() +
                paired.at("replayed_only").get<int>() + paired.at("neither").get<int>(),
            300);
  const Json none = replay("--closed-loop --policy none").at("closed_loop");
  EXPECT_EQ(none.at("decisions"), 0);
  EXPECT_EQ(none.at("replayed").at("admitted"), none.at("replayed").at("attempts"));
}

TEST_F(ReplayCli, AgentSessionsAreReplayedToo) {
  const Ended recorded =
      run("agents --example --json --out run --set admission.policy=fixed_concurrency --set "
          "admission.parameters.limit=3");
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  const Json open = replay("").at("open_loop");
  EXPECT_GT(open.at("decisions"), 0);
  EXPECT_EQ(open.at("differ"), 0);
  const Json closed = replay("--closed-loop").at("closed_loop");
  EXPECT_EQ(closed.at("identical"), true);
  EXPECT_EQ(closed.at("paired").at("of"), "sessions completed");
}

TEST_F(ReplayCli, ARuleFileAndAPluginAreTaken) {
  write("rules.yaml", "rules:\n- when: {signal: in_flight, above: 8}\n  then: reject\n");
  write("run.yaml", kRun);
  ASSERT_EQ(run("simulate run.yaml --json --out run --set admission.policy=rules --set "
                "'admission.parameters={file: rules.yaml}'")
                .code,
            0);
  fs::remove(folder_ / "rules.yaml");
  EXPECT_EQ(replay("").at("open_loop").at("differ"), 0);
  write("other.yaml", "rules:\n- when: {signal: in_flight, above: 2}\n  then: reject\n");
  EXPECT_GT(replay("--policy rules file=other.yaml").at("open_loop").at("differ"), 0);
  // This one asks for single replicas.
  expect_error("replay run/decisions.jsonl --policy queue_per_replica --plugin-path '" +
                   std::string(PLUGIN_FOLDER) + "/queue_per_replica'",
               "policy queue_per_replica needs readings of single replicas");
}

TEST_F(ReplayCli, TheTraceIsLookedForAndMustBeTheSame) {
  write("trace.csv",
        "arrival_time,prompt_tokens,output_tokens\n0.0,500,20\n0.1,900,50\n"
        "0.2,300,40\n0.3,800,60\n");
  write("run.yaml",
        "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
        "workload: {trace: {file: trace.csv}}\n"
        "admission: {policy: fixed_concurrency, parameters: {limit: 2}}\n");
  ASSERT_EQ(run("simulate run.yaml --json --out run").code, 0) << text_of(folder_ / ".err");
  EXPECT_EQ(replay("").at("open_loop").at("differ"), 0);
  fs::create_directory(folder_ / "kept");
  fs::rename(folder_ / "trace.csv", folder_ / "kept/trace.csv");
  expect_error("replay run/decisions.jsonl", "trace.csv");
  EXPECT_EQ(replay("--files-from kept").at("open_loop").at("differ"), 0);
  write("kept/trace.csv", "arrival_time,prompt_tokens,output_tokens\n0.0,501,20\n");
  expect_error("replay run/decisions.jsonl --files-from kept",
               "is not the trace of the recorded run: its CRC-32 is ");
}

TEST_F(ReplayCli, WhatALogDoesNotHoldIsSaid) {
  record();
  for (const char* policy : {"aimd", "virtual_queue", "fluid_wait", "adaptive_gradient",
                             "saturation shed_below_priority=1"}) {
    expect_error(std::string("replay run/decisions.jsonl --policy ") + policy,
                 "expected --closed-loop");
  }
  // This run has no sessions: said before anything else.
  expect_error("replay run/decisions.jsonl --policy session_window", "session_window");
}

TEST_F(ReplayCli, BadInputIsOneErrorEach) {
  expect_error("replay", "LOG");
  expect_error("replay nowhere/decisions.jsonl", "nowhere/decisions.jsonl");
  record();
  expect_error("replay run/decisions.jsonl threshold", "'threshold': expected key=value");
  expect_error("replay run/decisions.jsonl =3", "'=3': expected key=value");
  expect_error("replay run/decisions.jsonl max_wating=3", "max_wating");
  expect_error("replay run/decisions.jsonl --policy queue_dept", "did you mean queue_depth?");
  expect_error("replay run/summary.json", "run/summary.json");
  const std::string log = text_of(folder_ / "run/decisions.jsonl");
  write("alone.jsonl", log);
  expect_error("replay alone.jsonl", "manifest.json");
  std::string newer = log;
  newer.replace(newer.find("\"version\":1"), 11, "\"version\":9");
  write("run/newer.jsonl", newer);
  expect_error("replay run/newer.jsonl", "run/newer.jsonl:1");
  std::string other = log;
  other.replace(other.find("\"policy\":\"queue_depth\""), 22, "\"policy\":\"queue_agent\"");
  write("run/other.jsonl", other);
  expect_error("replay run/other.jsonl", "the log is of another run");
  expect_error("replay run/other.jsonl --closed-loop", "the log is of another run");
  write("run/manifest.json", "{\"simulated\": true}");
  expect_error("replay run/decisions.jsonl", "run/manifest.json: config: missing");
  write("run/manifest.json", "{");
  expect_error("replay run/decisions.jsonl", "run/manifest.json");
}

TEST_F(ReplayCli, ALastLineThatIsCutOffIsLeftOutAndSaid) {
  record();
  const std::string log = text_of(folder_ / "run/decisions.jsonl");
  write("run/decisions.jsonl", log.substr(0, log.size() - 100));
  const Json open = replay("");
  EXPECT_EQ(open.at("open_loop").at("differ"), 0);
  EXPECT_TRUE(has(open.at("notes").at(0), "is cut off and was left out")) << open.at("notes");
  const Json closed = replay("--closed-loop").at("closed_loop");
  EXPECT_EQ(closed.at("identical"), false);
  EXPECT_EQ(closed.at("first_other_line"), nullptr);
  EXPECT_EQ(closed.at("decisions").get<int>(), closed.at("recorded_decisions").get<int>() + 1);
}

TEST_F(ReplayCli, ALogThatWasChangedDoesNotComeOutAgain) {
  record();
  std::string log = text_of(folder_ / "run/decisions.jsonl");
  const std::size_t line = log.find("\"prompt_tokens\":", log.find('\n', log.find('\n') + 1));
  log.insert(line + 16, "1");
  write("run/decisions.jsonl", log);
  const Json closed = replay("--closed-loop").at("closed_loop");
  EXPECT_EQ(closed.at("identical"), false);
  EXPECT_EQ(closed.at("first_other_line"), 3);
  const Ended other = run("replay run/decisions.jsonl --closed-loop --policy none");
  EXPECT_TRUE(has(other.out, "line 3 of the log comes out differently")) << other.out;
}

}  // namespace
}  // namespace inferscale
