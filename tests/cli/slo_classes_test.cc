// Classes of service from outside: a run worked by hand, the example at the door, and goodput by
// class added up anew from the lines of outcomes.jsonl.

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/program.h"

namespace inferscale {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const fs::path& path) {
  std::vector<Json> lines;
  std::istringstream text(text_of(path));
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

// The class's entry in a summary.
Json class_of(const Json& summary, const std::string& name) {
  for (const Json& each : summary["slo_classes"]) {
    if (each["name"] == name) return each;
  }
  ADD_FAILURE() << "no class " << name;
  return {};
}

// Whether a line is within the targets of its class, by its own times alone.
bool is_met(const Json& line, const Json& own) {
  if (line["status"] != "finished") return false;
  const auto within = [&](const char* figure, const char* target) {
    return own[target].is_null() || line[figure].get<double>() <= own[target].get<double>();
  };
  if (!within("ttft_ms", "ttft_ms") || !within("e2e_ms", "e2e_ms")) return false;
  if (own["itl_ms"].is_null()) return true;
  const auto gaps = line["output_tokens"].get<std::int64_t>() - 1;
  return line["gaps_over_limit"].get<std::int64_t>() * 20 <= gaps;
}

// Each class's figures in the summary, and each line's verdict, against the lines' times.
void expect_added_up(const fs::path& folder) {
  const Json summary = Json::parse(text_of(folder / "summary.json"));
  const std::vector<Json> lines = lines_of(folder / "outcomes.jsonl");
  std::int64_t met_in_all = 0;
  for (const Json& own : summary["slo_classes"]) {
    std::int64_t arrived = 0;
    std::int64_t refused = 0;
    std::int64_t deferred = 0;
    std::int64_t met = 0;
    std::vector<double> ttft_ms;
    for (const Json& line : lines) {
      if (line["slo_class"] != own["name"]) continue;
      ++arrived;
      refused += line["status"] == "refused" ? 1 : 0;
      deferred += line["status"] == "deferred" ? 1 : 0;
      met += is_met(line, own) ? 1 : 0;
      EXPECT_EQ(line["slo_met"], is_met(line, own)) << line;
      if (line["status"] == "finished") ttft_ms.push_back(line["ttft_ms"]);
    }
    EXPECT_EQ(own["arrived"], arrived);
    EXPECT_EQ(own["refused"], refused);
    EXPECT_EQ(own["deferred"], deferred);
    EXPECT_EQ(own["met"], met);
    EXPECT_EQ(own["goodput"], static_cast<double>(met) / static_cast<double>(arrived));
    std::sort(ttft_ms.begin(), ttft_ms.end());
    // Nearest rank: the least value that 95 % are at most.
    const std::size_t rank = (ttft_ms.size() * 95 + 99) / 100;
    if (rank > 0) {
      EXPECT_DOUBLE_EQ(own["ttft_ms_p95"].get<double>(), ttft_ms[rank - 1]);
    }
    met_in_all += met;
  }
  EXPECT_EQ(summary["slo"]["met"], met_in_all);
  EXPECT_EQ(summary["slo"]["goodput"],
            static_cast<double>(met_in_all) / static_cast<double>(lines.size()));
}

// One place, steps of 10 ms, answers of two tokens: a request has it for 20 ms.
//   a  batch        arrives at 0 ms: 0 to 20
//   b  batch        arrives at 1 ms, c interactive at 2 ms
// First come: b 20 to 40, c 40 to 60: its first token at 50, 48 ms after it arrived. By priority:
// c 20 to 40: first token at 30, after 28 ms; b 40 to 60: E2E 59 ms.
constexpr const char* kByHand = R"(
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {scheduler: vllm, max_num_seqs: 1}
  latency: {model: linear, step_us: 10000}
workload: {trace: {file: trace.csv}}
slo_classes:
  interactive: {slo: {ttft_ms: 35}, priority: 10}
  batch: {slo: {e2e_ms: 55}, priority: -1}
tenants: {app: {slo_class: interactive}, nightly: {slo_class: batch}}
)";
constexpr const char* kByHandTrace =
    "arrival_time,prompt_tokens,output_tokens,tenant\n"
    "0,8,2,nightly\n0.001,8,2,nightly\n0.002,8,2,app\n";

TEST_F(Cli, TwoClassesWorkedByHand) {
  write("run.yaml", kByHand);
  write("trace.csv", kByHandTrace);
  ASSERT_EQ(run("simulate run.yaml --out first --verify").code, 0);
  std::vector<Json> lines = lines_of(folder_ / "first/outcomes.jsonl");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["slo_class"], "batch");
  EXPECT_EQ(lines[2]["slo_class"], "interactive");
  EXPECT_EQ(lines[1]["e2e_ms"], 39);
  EXPECT_EQ(lines[1]["slo_met"], true);
  EXPECT_EQ(lines[2]["ttft_ms"], 48);
  EXPECT_EQ(lines[2]["slo_met"], false);
  expect_added_up(folder_ / "first");

  const std::string by_priority =
      "simulate run.yaml --out second --verify "
      "--set deployment.engine.scheduling_policy=priority";
  ASSERT_EQ(run(by_priority).code, 0);
  lines = lines_of(folder_ / "second/outcomes.jsonl");
  EXPECT_EQ(lines[1]["e2e_ms"], 59);
  EXPECT_EQ(lines[1]["slo_met"], false);
  EXPECT_EQ(lines[2]["ttft_ms"], 28);
  EXPECT_EQ(lines[2]["slo_met"], true);
  expect_added_up(folder_ / "second");
}

constexpr const char* kChat = R"(
deployment:
  model: llama-3.1-8b
  hardware: h100-sxm
  engine: {scheduler: vllm, max_num_seqs: 16}
  latency: {model: linear, step_us: 10000}
workload:
  requests: 1000
  arrivals: {process: poisson, rate_rps: 15}
  prompt_tokens: {distribution: lognormal, mean: 256, cv: 0.7}
  output_tokens: {distribution: lognormal, mean: 100, cv: 0.5}
)";

TEST_F(Cli, EqualClassesAreTheRunWithoutClasses) {
  write("plain.yaml", std::string(kChat) + "slo: {ttft_ms: 500, itl_ms: 15, e2e_ms: 4000}\n");
  write("classes.yaml",
        std::string(kChat) +
            "slo_classes:\n  a: {slo: {ttft_ms: 500, itl_ms: 15, e2e_ms: 4000}, share: 0.3}\n"
            "  b: {slo: {ttft_ms: 500, itl_ms: 15, e2e_ms: 4000}, share: 0.7}\n");
  ASSERT_EQ(run("simulate plain.yaml --out plain").code, 0);
  ASSERT_EQ(run("simulate classes.yaml --out classes").code, 0);
  std::string lines = text_of(folder_ / "classes/outcomes.jsonl");
  for (const std::string column : {"\"slo_class\":\"a\",", "\"slo_class\":\"b\","}) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = lines.find(column, at)) != std::string::npos; ++count) {
      lines.erase(at, column.size());
    }
    EXPECT_GT(count, 200U) << column;
  }
  EXPECT_EQ(lines, text_of(folder_ / "plain/outcomes.jsonl"));
  EXPECT_EQ(text_of(folder_ / "plain/signals.jsonl"), text_of(folder_ / "classes/signals.jsonl"));
  Json plain = Json::parse(text_of(folder_ / "plain/summary.json"));
  Json classes = Json::parse(text_of(folder_ / "classes/summary.json"));
  EXPECT_FALSE(plain.contains("slo_classes"));
  classes.erase("slo_classes");
  for (const char* target : {"ttft_ms", "itl_ms", "e2e_ms"}) {
    EXPECT_TRUE(classes["slo"][target].is_null());
    plain["slo"].erase(target);
    classes["slo"].erase(target);
  }
  EXPECT_EQ(plain, classes);
}

TEST_F(Cli, SaturationRefusesTheBatchClassFirst) {
  const std::string example = INFERSCALE_SOURCE_DIR "/configs/admission/slo_classes.yaml";
  ASSERT_EQ(run("simulate " + example + " --out shed --verify").code, 0);
  ASSERT_EQ(run("simulate " + example + " --set admission.policy=none --out open").code, 0);
  expect_added_up(folder_ / "shed");
  expect_added_up(folder_ / "open");
  for (const Json& line : lines_of(folder_ / "shed/outcomes.jsonl")) {
    EXPECT_TRUE(line["status"] != "refused" || line["slo_class"] == "batch") << line;
  }
  const Json shed = Json::parse(text_of(folder_ / "shed/summary.json"));
  const Json open = Json::parse(text_of(folder_ / "open/summary.json"));
  EXPECT_EQ(class_of(shed, "interactive")["refused"], 0);
  EXPECT_GT(class_of(shed, "batch")["refused"], 500);
  EXPECT_GT(class_of(shed, "interactive")["goodput"], 0.8);
  EXPECT_LT(class_of(open, "interactive")["goodput"], 0.2);
  for (const Json& line : lines_of(folder_ / "shed/decisions.jsonl")) {
    if (!line.contains("view")) continue;  // the head of the log
    const Json& request = line["view"];
    const bool batch = request["slo_class"] == 1;
    ASSERT_EQ(request["priority"], batch ? -1 : 10);
    const std::int64_t wait_ns = batch ? 20'000'000'000 : 500'000'000;
    ASSERT_EQ(request["ttft_deadline_ns"].get<std::int64_t>(),
              request["arrival_ns"].get<std::int64_t>() + wait_ns);
    ASSERT_EQ(request["itl_target_ns"], batch ? 0 : 50'000'000);
  }
}

TEST_F(Cli, VirtualQueueKeepsTheInteractiveClassInTime) {
  const std::string example = INFERSCALE_SOURCE_DIR "/configs/admission/slo_classes.yaml";
  ASSERT_EQ(run("simulate " + example +
                " --set admission.policy=virtual_queue --set admission.parameters.pull_below=17"
                " --set 'admission.hold={most: 10000, longest_s: 60}' --out queue --verify")
                .code,
            0);
  ASSERT_EQ(run("simulate " + example + " --set admission.policy=none --out open").code, 0);
  expect_added_up(folder_ / "queue");
  const Json queue = Json::parse(text_of(folder_ / "queue/summary.json"));
  const Json open = Json::parse(text_of(folder_ / "open/summary.json"));
  EXPECT_GT(class_of(queue, "interactive")["goodput"], 0.8);
  EXPECT_LT(class_of(open, "interactive")["goodput"], 0.1);
  // And the others are not worse off for it.
  EXPECT_GT(class_of(queue, "batch")["goodput"], class_of(open, "batch")["goodput"]);
}

TEST_F(Cli, ClassesOfSessionsAndOfClientsThatComeAgain) {
  const std::string example = INFERSCALE_SOURCE_DIR "/configs/admission/slo_classes.yaml";
  ASSERT_EQ(
      run("simulate " + example + " --set clients.profile=retry_after --out again --verify").code,
      0);
  expect_added_up(folder_ / "again");
  const std::string agents = INFERSCALE_SOURCE_DIR "/configs/agents.yaml";
  const std::string classes =
      " --set 'slo_classes={quick: {slo: {ttft_ms: 2000}}, slow: {slo: {e2e_ms: 60000}}}'"
      " --set workload.sessions.count=20";
  ASSERT_EQ(run("agents " + agents + classes + " --out agents --verify").code, 0);
  std::map<std::string, std::string> of_session;
  std::map<std::string, int> sessions;
  for (const Json& line : lines_of(folder_ / "agents/outcomes.jsonl")) {
    const auto [known, is_new] = of_session.emplace(line["session"], line["slo_class"]);
    EXPECT_EQ(known->second, line["slo_class"]);
    if (is_new) ++sessions[line["slo_class"]];
  }
  EXPECT_EQ(sessions["quick"] + sessions["slow"], 20);
  EXPECT_GT(sessions["quick"], 3);
  EXPECT_GT(sessions["slow"], 3);
}

// Two tenants are served the same tokens, and one has three times the other's weight: Jain's index
// of 1/3 and 1 is (4/3)^2 / (2 x 10/9) = 0.8.
TEST_F(Cli, FairnessOfTokensIsOfATenantsWeight) {
  write("run.yaml", std::string(kByHand) + "admission: {policy: queue_depth}\n");
  write("trace.csv",
        "arrival_time,prompt_tokens,output_tokens,tenant\n"
        "0,8,2,nightly\n0.001,8,2,app\n0.002,8,2,nightly\n0.003,8,2,app\n");
  const auto jain = [&](const std::string& more) {
    const Ended ended = run("simulate run.yaml --json" + more);
    return Json::parse(ended.out)["admission"]["fairness"]["tokens_jain"].get<double>();
  };
  EXPECT_DOUBLE_EQ(jain(""), 1);
  EXPECT_DOUBLE_EQ(jain(" --set tenants.app.weight=3"), 0.8);
}

TEST_F(Cli, MistakesInClassesAreOneError) {
  write("run.yaml", kByHand);
  write("trace.csv", kByHandTrace);
  expect_error(
      "simulate run.yaml --set slo_classes.batch.share=0.3 "
      "--set slo_classes.interactive.share=0.3",
      "slo_classes: shares sum to 0.6 (interactive 0.3, batch 0.3): expected a sum of 1");
  expect_error("simulate run.yaml --set tenants.app.slo_class=premium",
               "tenants.app.slo_class: 'premium': expected one of interactive, batch");
  expect_error("simulate run.yaml --set deployment.engine.scheduler=continuous_slo",
               "expected slo_classes.interactive.slo.e2e_ms");
  expect_error("simulate run.yaml --set tenants.nobody.slo_class=batch", "tenants.nobody");
  const Ended both = run("simulate run.yaml --set slo.ttft_ms=100");
  EXPECT_EQ(both.code, 0);
  EXPECT_NE(both.out.find("Note: slo judges no request"), std::string::npos) << both.out;
}

}  // namespace
}  // namespace inferscale
