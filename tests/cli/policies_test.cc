// The commands `policies`, `policies recommend` and `signals`; plug-ins and files of rules as the
// program takes them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/program.h"

namespace inferscale {
namespace {

using Json = nlohmann::json;

std::string sample_folder(const std::string& name) {
  return std::string(PLUGIN_FOLDER) + "/" + name;
}
std::string sample(const std::string& name) {
  return sample_folder(name) + "/" + name + ".so";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::set<std::string> names_of(const Json& list) {
  std::set<std::string> names;
  for (const Json& one : list) names.insert(one.at("name").get<std::string>());
  return names;
}

TEST_F(Cli, PoliciesAreListedWithWhatTheyNeed) {
  const Ended ended = run("policies");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "queue_depth (page+ledger)")) << ended.out;
  EXPECT_TRUE(has(ended.out, "queue_age_s (ledger)"));
  EXPECT_FALSE(has(ended.out, "plug-in"));
  const Json list = Json::parse(run("policies --json").out);
  const std::set<std::string> names = names_of(list);
  EXPECT_EQ(names.size(), list.size());
  for (const char* name : {"none", "reject_all", "rate_limit", "kv_threshold", "eight_signals"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(Cli, EveryPolicySaysWhereItsDefaultsComeFrom) {
  for (const std::string& name : names_of(Json::parse(run("policies --json").out))) {
    const Ended ended = run("policies " + name + " --json");
    ASSERT_EQ(ended.code, 0) << name << ": " << ended.err;
    const Json card = Json::parse(ended.out);
    EXPECT_EQ(card.at("name"), name);
    EXPECT_FALSE(card.at("summary").get<std::string>().empty()) << name;
    EXPECT_EQ(card.at("inspired_by").is_null(), card.at("preserved").is_null()) << name;
    for (const Json& parameter : card.at("parameters")) {
      const std::string key = parameter.at("key");
      if (name == "rules") continue;  // people write all of it
      EXPECT_FALSE(parameter.at("provenance").is_null()) << name << ": " << key;
      EXPECT_FALSE(parameter.at("meaning").get<std::string>().empty()) << name << ": " << key;
    }
  }
}

TEST_F(Cli, APolicyIsShownInFull) {
  const Ended ended = run("policies eight_signals");
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"docs/policies/eight_signals.md", "kv_high_water", "0.9", "inspired by",
                           "preserved", "dropped", "service_model"}) {
    EXPECT_TRUE(has(ended.out, part)) << part;
  }
  expect_error("policies kv_treshold", "no policy 'kv_treshold': did you mean 'kv_threshold'?");
}

TEST_F(Cli, SignalsAreListedWithTheNamesOfEngines) {
  const Ended ended = run("signals");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "vllm:kv_cache_usage_perc"));
  const Json list = Json::parse(run("signals --json").out);
  EXPECT_EQ(names_of(list).size(), 17U);
  for (const Json& signal : list) {
    // Every replica's fullness follows from its queue and its KV use.
    if (signal.at("name") == "replicas_full_fraction") continue;
    EXPECT_EQ(signal.at("origin") == "ledger", signal.at("engines").is_null()) << signal.at("name");
  }
}

TEST_F(Cli, PluginsAreListedWithPathAndVersion) {
  const Ended ended = run("policies --plugin-path '" + sample_folder("queue_per_replica") + "'");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "queue_per_replica  1.0.0    " + sample("queue_per_replica")))
      << ended.out;
  const Ended card =
      run("policies queue_per_replica --plugin-path '" + sample("queue_per_replica") + "'");
  ASSERT_EQ(card.code, 0) << card.err;
  EXPECT_TRUE(has(card.out, "most_waiting")) << card.out;
  EXPECT_TRUE(has(card.out, sample("queue_per_replica")));
}

TEST_F(Cli, PluginsAreFoundByTheEnvironment) {
  ASSERT_EQ(setenv("INFERSCALE_POLICY_PATH",
                   (sample_folder("talkative") + ":" + sample_folder("old_table")).c_str(), 1),
            0);
  const Ended ended = run("policies --json");
  unsetenv("INFERSCALE_POLICY_PATH");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::set<std::string> names = names_of(Json::parse(ended.out));
  EXPECT_TRUE(names.contains("talkative"));
  EXPECT_TRUE(names.contains("old_table"));
}

TEST_F(Cli, APluginOfNoUseIsOneErrorAndTheOthersAreThere) {
  const std::string good = " --plugin-path '" + sample_folder("queue_per_replica") + "'";
  for (const char* name : {"crash_at_load", "crash_in_decide", "exit_at_load", "missing_symbol",
                           "shipped_name", "short_table", "unknown_signal", "wrong_version"}) {
    const Ended ended = run("policies --plugin-path '" + sample_folder(name) + "'" + good);
    EXPECT_EQ(ended.code, 2) << name;
    EXPECT_TRUE(ended.err.starts_with("inferscale: " + sample(name) + ": plug-in: ")) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_TRUE(has(ended.out, "queue_per_replica")) << name;
  }
}

TEST_F(Cli, APluginThatHangsIsStoppedAfterFiveSeconds) {
  const Ended ended = run("policies --plugin-path '" + sample_folder("hang_at_load") + "'");
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "inferscale: " + sample("hang_at_load") + ": plug-in: was not loaded within 5 s\n");
}

TEST_F(Cli, TheChildsCommandIsNotListed) {
  EXPECT_FALSE(has(run("policies --help").out, "probe"));
  EXPECT_TRUE(has(run("policies --help").out, "recommend"));
}

constexpr const char* kSmallRun = "simulate --example --set workload.requests=300 ";

TEST_F(Cli, APluginDecidesInARun) {
  const std::string always = std::string(kSmallRun) +
                             "--json --set admission.policy=fault_in_decide --plugin-path '" +
                             sample_folder("fault_in_decide") + "' ";
  const Ended refused = run(always + "--set admission.parameters.verdict=2");
  ASSERT_EQ(refused.code, 0) << refused.err;
  EXPECT_EQ(Json::parse(refused.out).at("requests").at("finished"), 0);
  const Ended failed = run(always + "--set admission.parameters.code=1");
  ASSERT_EQ(failed.code, 0) << failed.err;
  EXPECT_EQ(Json::parse(failed.out).at("requests").at("finished"), 300);  // on_error: admit
}

TEST_F(Cli, ARunThatAsksForAPluginOfNoUseIsAnError) {
  expect_error(std::string(kSmallRun) + "--set admission.policy=wrong_version --plugin-path '" +
                   sample_folder("wrong_version") + "'",
               sample("wrong_version") + ": plug-in: has version 2 of the interface: expected 1");
}

TEST_F(Cli, RulesComeFromAFileBesideTheConfiguration) {
  write("rules.yaml",
        "rules:\n- when: {request: attempt, at_least: 0}\n  then: reject\n  reason: closed\n");
  const std::string line = std::string(kSmallRun) +
                           "--json --set admission.policy=rules --set "
                           "admission.parameters.file=rules.yaml";
  const Ended ended = run(line);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out).at("requests").at("finished"), 0);
  write("rules.yaml", "rules:\n- when: {signal: queue_dept, above: 3}\n  then: reject\n");
  expect_error(line, "rules.yaml:2: ");
  expect_error(line + " --set admission.parameters.otherwise=admit",
               "expected no other parameter beside it");
  write("rules.yaml", "[]\n");
  expect_error(line, "rules.yaml: the file of rules holds a list: expected a map");
  fs::remove(folder_ / "rules.yaml");
  expect_error(line, "rules.yaml");
}

TEST_F(Cli, RecommendAnswersFromTheRunsEvidence) {
  ASSERT_EQ(run(std::string(kSmallRun) + "--out calm").code, 0);
  const Ended ended = run("policies recommend calm");
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* part :
       {"(simulated)", "Do requests carry deadlines?", "Does the KV cache fill at peak?",
        "Is the prefix hit rate high?", "Does the queue move?", "Policies: none"}) {
    EXPECT_TRUE(has(ended.out, part)) << part << "\n" << ended.out;
  }
  ASSERT_EQ(run(std::string(kSmallRun) +
                "--set workload.arrivals.rate_rps=1000 --set deployment.engine.max_num_seqs=4 "
                "--out busy")
                .code,
            0);
  const Json busy = Json::parse(run("policies recommend busy --json").out);
  const std::set<std::string> known = names_of(Json::parse(run("policies --json").out));
  EXPECT_NE(busy.at("policies").front(), "none");
  for (const Json& name : busy.at("policies")) {
    EXPECT_TRUE(known.contains(name.get<std::string>())) << name;
  }
  expect_error("policies recommend nowhere", "nowhere: expected the folder of a run");
}

}  // namespace
}  // namespace inferscale
