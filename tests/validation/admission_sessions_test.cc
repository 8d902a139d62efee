// Sessions or calls: what one lets in decides whether anything is finished. Hand-checkable.

#include <gtest/gtest.h>

#include "validation/admission_runs.h"

namespace inferscale {
namespace {

const std::string& two_agents() {
  static const std::string path = admission_scenario("two_agents.yaml");
  return path;
}

std::int64_t in_time(const ProgramRun& run) {
  return run.summary().at("sessions").at("slo").at("sessions_met");
}
std::int64_t finished_calls(const ProgramRun& run) {
  return run.summary().at("sessions").at("turns").at("finished");
}

// A call takes 100 steps of 10 ms, and a cache of 16,000 tokens has room for one of 8,000 to 9,919
// tokens of prompt. Alone an agent takes 20 x 1 s + 19 x 10 ms = 20.19 s of its 25 s.
TEST(TwoAgents, AWindowOfSessionsFinishesOneInTime) {
  const ProgramRun run("agents", two_agents(), {});
  ASSERT_TRUE(run.succeeded()) << run.error();
  EXPECT_EQ(in_time(run), 1);
  EXPECT_DOUBLE_EQ(run.summary().at("sessions").at("makespan_s").at("max"), 20.19);
  EXPECT_EQ(finished_calls(run), 20);
}

// Call by call they take turns, each waiting for the other's: the first is done when 39 calls are,
// the second when all 40 are, less what it came later (10 ms).
TEST(TwoAgents, CallsByTurnsFinishNoneInTime) {
  const ProgramRun run("agents", two_agents(),
                       {"admission.policy=token_budget", "admission.parameters={then: defer}"});
  ASSERT_TRUE(run.succeeded()) << run.error();
  EXPECT_EQ(in_time(run), 0);
  EXPECT_EQ(finished_calls(run), 40);
  const nlohmann::json& makespan = run.summary().at("sessions").at("makespan_s");
  EXPECT_NEAR(makespan.at("p50"), 39.0, 1e-6);
  EXPECT_NEAR(makespan.at("max"), 39.99, 1e-6);
}

// Room for 20 of the 40 calls, and callers who give up: the same 20 calls are served, and what
// becomes of them is the whole difference.
TEST(TwoAgents, OfTheSameVolumeCallsFinishNone) {
  const Settings gives_up = {"clients.profile=gives_up", "admission.hold=null"};
  const ProgramRun calls("agents", two_agents(),
                         gives_up + Settings{"admission.policy=token_bucket",
                                             "admission.parameters={capacity: 20, refill_per_s: "
                                             "0.000001, cost: request}"});
  const ProgramRun sessions("agents", two_agents(), gives_up);
  ASSERT_TRUE(calls.succeeded() && sessions.succeeded()) << calls.error() << sessions.error();
  EXPECT_EQ(finished_calls(calls), 20);
  EXPECT_EQ(finished_calls(sessions), 20);
  EXPECT_EQ(calls.summary().at("sessions").at("complete"), 0);
  EXPECT_EQ(sessions.summary().at("sessions").at("complete"), 1);
}

}  // namespace
}  // namespace inferscale
