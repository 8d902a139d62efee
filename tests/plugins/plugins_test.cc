// Plug-ins: real shared objects, tried, loaded, asked.

#include "plugin/plugins.h"

#include <gtest/gtest.h>

#include <fstream>

#include "admission/gate.h"
#include "admission/policy_test_support.h"
#include "base/edge/test_folder.h"
#include "plugin/plugin_policy.h"

namespace inferscale {
namespace {

std::string sample(const std::string& name) {
  return std::string(PLUGIN_FOLDER) + "/" + name + "/" + name + ".so";
}

ProbeCommand probe_command() {
  return {.program = PROBE_PROGRAM, .arguments = {}, .timeout = std::chrono::seconds(20)};
}

std::string refusal_of(const std::string& name, const ProbeCommand& command = probe_command()) {
  const Result<void> fine = probe_plugin(command, sample(name));
  if (fine) return "fine";
  EXPECT_EQ(fine.error().where, sample(name));
  EXPECT_EQ(fine.error().message.find('\n'), std::string::npos);
  return fine.error().message;
}

TEST(PluginProbe, AGoodOneIsFine) {
  EXPECT_EQ(refusal_of("queue_per_replica"), "fine");
  EXPECT_EQ(refusal_of("old_table"), "fine");
  EXPECT_EQ(refusal_of("fault_in_decide"), "fine");  // how it decides is not judged
}

TEST(PluginProbe, WhatItPrintsIsNoReport) {
  EXPECT_EQ(refusal_of("talkative"), "fine");
}

TEST(PluginProbe, ACrashIsAnError) {
  EXPECT_EQ(refusal_of("crash_at_load"),
            "plug-in: crashed while it was loaded and tried (SIGSEGV)");
  EXPECT_EQ(refusal_of("crash_in_decide"),
            "plug-in: crashed while it was loaded and tried (SIGABRT)");
}

TEST(PluginProbe, AHangIsStoppedAndAnError) {
  ProbeCommand command = probe_command();
  command.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(refusal_of("hang_at_load", command), "plug-in: was not loaded within 0.3 s");
}

TEST(PluginProbe, AnEndOfTheProcessIsAnError) {
  EXPECT_EQ(refusal_of("exit_at_load"),
            "plug-in: ended the process while it was loaded and tried (exit code 0)");
}

TEST(PluginProbe, AWrongTableIsAnError) {
  EXPECT_EQ(refusal_of("missing_symbol"), "plug-in: exports no function inferscale_policy_plugin");
  EXPECT_EQ(refusal_of("wrong_version"), "plug-in: has version 2 of the interface: expected 1");
  EXPECT_NE(refusal_of("short_table").find("its table has 24 bytes: expected at least "),
            std::string::npos);
  EXPECT_EQ(refusal_of("unknown_signal"),
            "plug-in: needs the signal 'queue_dept': there is none of this name (did you mean "
            "'queue_depth'?)");
}

TEST(PluginProbe, AFileThatIsNoSharedObjectIsAnError) {
  const TestFolder folder;
  const std::string path = folder.write("text.so", "hello\n");
  const Result<void> fine = probe_plugin(probe_command(), path);
  ASSERT_FALSE(fine.has_value());
  EXPECT_NE(fine.error().message.find("plug-in: can't be loaded: "), std::string::npos);
}

TEST(PluginProbe, AProgramThatIsNotThereIsAnError) {
  EXPECT_NE(refusal_of("talkative", {.program = "/nowhere/inferscale"}), "fine");
}

TEST(PluginSearchPath, IsSplitAtColons) {
  EXPECT_EQ(split_search_path("a:/b c::d:"), (std::vector<std::string>{"a", "/b c", "d"}));
  EXPECT_TRUE(split_search_path("").empty());
}

// One search for all tests below, since what is loaded stays.
const PluginSearch& search() {
  static const PluginSearch found = [] {
    const std::string root = std::string(PLUGIN_FOLDER) + "/";
    const std::vector<std::string> folders = {root + "queue_per_replica", sample("fault_in_decide"),
                                              root + "shipped_name",      root + "wrong_version",
                                              root + "nowhere",           root + "old_table",
                                              root + "old_table"};
    return load_plugins(folders, probe_command());
  }();
  return found;
}

TEST(Plugins, OfASearchPathAreLoadedOrRefusedOneByOne) {
  ASSERT_EQ(search().loaded.size(), 3U);
  EXPECT_EQ(search().loaded[0].policy, "queue_per_replica");
  EXPECT_EQ(search().loaded[0].path, sample("queue_per_replica"));
  EXPECT_EQ(search().loaded[0].version, "1.0.0");
  EXPECT_EQ(search().loaded[1].policy, "fault_in_decide");
  EXPECT_EQ(search().loaded[2].policy, "old_table");
  ASSERT_EQ(search().refused.size(), 4U);
  EXPECT_EQ(search().refused[0].to_string(),
            sample("shipped_name") + ": plug-in: there is a policy none already");
  EXPECT_EQ(search().refused[1].where, sample("wrong_version"));
  EXPECT_NE(search().refused[2].to_string().find("nowhere: a folder of plug-ins: No such file"),
            std::string::npos);
  EXPECT_EQ(search().refused[3].message, "plug-in: there is a policy old_table already");
}

TEST(Plugins, DecideByTheReadingsOfReplicas) {
  ASSERT_FALSE(search().loaded.empty());
  const auto policy = make_policy_for_test("queue_per_replica", {{"most_waiting", "3"}});
  FakePool pool(policy->needs().signals);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
  pool.set_replica(0, Signal::kQueueDepth, 3);
  pool.set_replica(1, Signal::kQueueDepth, 9);
  EXPECT_EQ(policy->decide({}, pool).verdict, Verdict::kDefer);
  EXPECT_EQ(policy->decide({}, pool).reason, Reason::kQueueDepth);
  EXPECT_FALSE(policy->decide({}, pool).retry_after.has_value());
  pool.set_replica(0, Signal::kQueueDepth, 2);
  EXPECT_TRUE(policy->decide({}, pool).admitted());
}

TEST(Plugins, ReadTheirParametersStrictly) {
  ASSERT_FALSE(search().loaded.empty());
  const auto error_of = [](const WrittenParameters& written) {
    const auto read = read_policy_for_test("queue_per_replica", written);
    return read.has_value() ? std::string() : read.error().to_string();
  };
  EXPECT_EQ(error_of({{"most_waiting", "x"}}), "test: most_waiting: 'x': expected a whole number");
  EXPECT_NE(error_of({{"most_wating", "5"}}).find("did you mean 'most_waiting'?"),
            std::string::npos);
  EXPECT_NE(error_of({{"most_waiting", "0"}}).find("most_waiting: '0': expected at least 1"),
            std::string::npos);
}

TEST(Plugins, ATableOfAnOlderHeaderHasNoOptionalFunctions) {
  ASSERT_EQ(search().loaded.size(), 3U);
  EXPECT_FALSE(make_policy_for_test("old_table")->limit().has_value());
}

Decision said(const WrittenParameters& written) {
  const auto policy = make_policy_for_test("fault_in_decide", written);
  const FakePool pool;
  return policy->decide({}, pool);
}

TEST(Plugins, AFaultInADecisionIsAFailedAdmission) {
  ASSERT_EQ(search().loaded.size(), 3U);
  EXPECT_FALSE(said({}).failed);
  EXPECT_EQ(said({{"verdict", "2"}}).reason, Reason::kRule);
  EXPECT_EQ(said({{"verdict", "1"}, {"reason", "shed"}, {"retry_s", "2.5"}}).retry_after,
            Duration::from_seconds(2.5));
  const std::vector<WrittenParameters> faults = {
      {{"code", "1"}, {"verdict", "2"}},
      {{"verdict", "3"}},
      {{"verdict", "-1"}},
      {{"verdict", "2"}, {"reason", "because"}},
      {{"verdict", "2"}, {"reason", "queue_full"}},  // an engine's reason
      {{"verdict", "1"}, {"retry_s", "-1"}},
  };
  for (const WrittenParameters& fault : faults) {
    EXPECT_TRUE(said(fault).failed) << fault.front().first << " " << fault.front().second;
    EXPECT_TRUE(said(fault).admitted());
  }
  const auto policy = make_policy_for_test("fault_in_decide", faults[3]);
  EXPECT_EQ(policy->failure(), "");
  policy->decide({}, FakePool());
  EXPECT_EQ(policy->failure(), "it gave a reason that policies do not have: 'because'");
}

TEST(Plugins, TheGateCountsFaultsAndDoesWhatOnErrorSays) {
  ASSERT_EQ(search().loaded.size(), 3U);
  for (const Verdict on_error : {Verdict::kAdmit, Verdict::kReject}) {
    GateOptions options;
    options.policy_name = "fault_in_decide";
    options.policy = *read_policy_for_test("fault_in_decide", {{"code", "1"}});
    options.on_error = on_error;
    options.on_stale = StaleRule::kOpen;
    auto gate = AdmissionGate::create(std::move(options));
    ASSERT_TRUE(gate.has_value()) << gate.error().to_string();
    const Presented presented = (*gate)->present({.request = 1, .prompt_tokens = 10}, Instant());
    EXPECT_EQ((*gate)->counts().policy_failures, 1);
    EXPECT_EQ((*gate)->counts().policy_failure, "decide() returned 1");
    const bool admits = on_error == Verdict::kAdmit;
    EXPECT_EQ(presented.kind, admits ? Presented::Kind::kAdmitted : Presented::Kind::kAnswered);
    EXPECT_EQ(presented.decision.reason, admits ? Reason::kNone : Reason::kPolicyError);
  }
}

}  // namespace
}  // namespace inferscale
