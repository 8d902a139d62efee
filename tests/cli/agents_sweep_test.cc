// `inferscale agents ttl-sweep` and its like from outside: what is printed, written and refused.

#include "cli/program.h"

namespace inferscale {
namespace {

using AgentsSweepCli = Cli;

const std::string kFew =
    " --example --set workload.sessions.count=6 --set workload.sessions.turns.max=8";

TEST_F(AgentsSweepCli, AllKindsRecommendSomething) {
  for (const std::string kind : {"ttl-sweep", "affinity-sweep", "memory-stress", "host-sweep"}) {
    const Ended ended = run("agents " + kind + kFew);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("\nRecommended  "), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("TTFT p95 ms"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("All figures are simulated: one run"), std::string::npos);
  }
}

TEST_F(AgentsSweepCli, TheAnswerIsTheSameForAnyNumberOfJobsAndFromAFolder) {
  const std::string sweep = "agents ttl-sweep --json --set repeats=2" + kFew;
  const Ended alone = run(sweep + " --jobs 1");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(run(sweep + " --jobs 2 --out study").out, alone.out);
  EXPECT_EQ(run(sweep + " --jobs 1 --out study").out, alone.out);
  EXPECT_EQ(text_of(folder_ / "study" / "result.json"), alone.out);
  EXPECT_TRUE(fs::exists(folder_ / "study" / "report.html"));
}

TEST_F(AgentsSweepCli, OptionsAreThoseOfStudyAgents) {
  const Ended ended = run("agents ttl-sweep --set 'study.agents.ttl_s=[7, null]'" + kFew);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("2 of 2 points simulated"), std::string::npos) << ended.out;
  expect_error("agents ttl-sweep --set 'study.agents.ttl_s=[-7]'" + kFew,
               "study.agents.ttl_s: a list: expected a list of numbers of at least 0 or null");
  expect_error("agents ttl-sweep --set study.agents.repeats=3" + kFew,
               "study.agents.repeats: '3': no key of the sweeps: expected at the top level (--set "
               "repeats=3)");
  expect_error("agents affinity-sweep --set deployment.replicas=1" + kFew,
               "deployment.replicas: '1': expected at least 2");
  expect_error("agents --set seed=9 ttl-sweep --example",
               "'--set' before 'ttl-sweep': expected it behind");
}

}  // namespace
}  // namespace inferscale
