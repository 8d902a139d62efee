// `inferscale tune` from outside: what it prints and writes, for any number of jobs, and what it
// refuses.

#include "cli/program.h"

namespace inferscale {
namespace {

using TuneCli = Cli;

const std::string kFew =
    "tune --example --set workload.requests=200 --set repeats=2 --set study.tune.candidates=6 "
    "--set study.tune.fresh_repeats=5 --set study.tune.capacity_rps=20 ";

TEST_F(TuneCli, SaysWhatToSetAndComparesItWithThreeControls) {
  const Ended ended = run(kFew);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out.find("Tuning queue_depth for tune.yaml (simulated)\nSet        queue_depth: "
                           "max_waiting "),
            0U)
      << ended.out;
  for (const std::string part :
       {"Against    ", "fixed_concurrency (then reject, limit ", "equal_volume_shed, its volume",
        "20 requests/s", "Worst-case goodput in the search"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
}

TEST_F(TuneCli, TheAnswerIsTheSameForAnyNumberOfJobsAndFromAFolder) {
  const Ended alone = run(kFew + "--json --jobs 1");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(run(kFew + "--json --jobs 2 --out study").out, alone.out);
  EXPECT_EQ(run(kFew + "--json --jobs 1 --out study").out, alone.out);
  EXPECT_EQ(text_of(folder_ / "study" / "result.json"), alone.out);
  EXPECT_TRUE(fs::exists(folder_ / "study" / "report.html"));
}

TEST_F(TuneCli, TunesAnotherPolicyThanTheConfiguredOne) {
  const Ended ended = run(kFew + "--policy kv_threshold --set study.tune.parameters=null");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out.find("Tuning kv_threshold for tune.yaml"), 0U) << ended.out;
  EXPECT_NE(ended.out.find("threshold from 0.05 to 1"), std::string::npos) << ended.out;
}

TEST_F(TuneCli, ScalesATraceAndAgentSessions) {
  std::string rows = "arrival_time,prompt_tokens,output_tokens\n";
  for (int i = 0; i < 200; ++i) rows += std::to_string(0.5 * i) + ",500,100\n";
  write("trace.csv", rows);
  const std::string rest =
      "repeats: 1\n"
      "slo: {ttft_ms: 500}\n"
      "admission: {policy: fixed_concurrency}\n"
      "study: {tune: {load_factors: [1, 2], candidates: 4, fresh_repeats: 2, capacity_rps: 4}}\n";
  write("t.yaml",
        "deployment: {model: llama-3.1-8b, hardware: h100-sxm}\n"
        "workload: {trace: {file: trace.csv}}\n" +
            rest);
  const Ended trace = run("tune t.yaml --json");
  ASSERT_EQ(trace.code, 0) << trace.err;
  // The trace has 2 requests/s.
  EXPECT_NE(trace.out.find("\"workload.trace.rate_scale\": 4"), std::string::npos) << trace.out;
  // The policy is no control of its own.
  EXPECT_EQ(trace.out.find("\"policy\": \"fixed_concurrency\"", trace.out.find("\"controls\"")),
            std::string::npos);
  write("s.yaml",
        "deployment: {model: llama-3.1-8b, hardware: h100-sxm, "
        "engine: {prefix_caching: true}}\n"
        "workload: {arrivals: {process: poisson, rate_rps: 1}, sessions: {count: 8, preset: "
        "short_tasks}}\n" +
            rest);
  const Ended sessions = run("tune s.yaml --json");
  ASSERT_EQ(sessions.code, 0) << sessions.err;
  EXPECT_NE(sessions.out.find("\"metric\": \"turn_attainment\""), std::string::npos);
  expect_error("tune s.yaml --set study.tune.capacity_rps=null",
               "study.tune.capacity_rps: missing: expected it with agent sessions");
}

TEST_F(TuneCli, SaysWhatItDoesNotUnderstand) {
  expect_error("tune", "expected a configuration file, or --example");
  expect_error("tune --example --policy queue_dept", "policy 'queue_dept': expected one of");
  expect_error("tune --example --policy none --set study.tune.parameters=null",
               "study.tune.parameters: missing: expected the parameters of none");
  expect_error("tune --example --policy dual_gate --set study.tune.parameters=null",
               "needs the signal prefix_hit_rate");
  expect_error("tune --example --policy kv_threshold", "admission.parameters.max_waiting");
  expect_error("tune --example --set study.tune.candidates=2", "study.tune.candidates: '2'");
  expect_error("tune --example --set study.tune.canditates=20", "study.tune.canditates");
  expect_error("tune --example --set slo=null", "slo: expected at least one target");
  expect_error("tune --example --set study.capacity.search=replicas",
               "a policy is tuned over loads of one fleet");
  expect_error("tune --example --set seed=9223372036854775000", "fresh seeds are 1,000,000 higher");
}

}  // namespace
}  // namespace inferscale
