// The same arrivals with another policy in force, against the runs taken one by one.

#include "study/replay/closed_replay.h"

#include <gtest/gtest.h>

#include "study/replay/replay_test_support.h"

namespace inferscale {
namespace {

std::string run_with(const std::string& more) {
  return "deployment:\n"
         "  model: llama-3.1-8b\n"
         "  hardware: h100-sxm\n"
         "  engine: {max_num_seqs: 4}\n"
         "workload:\n"
         "  requests: 300\n"
         "  arrivals: {process: poisson, rate_rps: 6}\n"
         "  prompt_tokens: {distribution: lognormal, mean: 600, cv: 1}\n"
         "  output_tokens: {distribution: lognormal, mean: 200, cv: 1}\n" +
         more;
}

constexpr const char* kSlo = "slo: {ttft_ms: 1000}\n";

TEST(ClosedReplay, PairsTheSameRequests) {
  const RecordedForTest was = record_for_test(run_with(
      std::string(kSlo) + "admission: {policy: queue_depth, parameters: {max_waiting: 2}}\n"));
  const RecordedForTest is = record_for_test(run_with(std::string(kSlo) + "seed: 42\n"));
  const PairedOutcomes pairs = pair_outcomes(was.simulated, is.simulated, was.run);
  EXPECT_TRUE(pairs.has_slo);
  EXPECT_EQ(pairs.both + pairs.recorded_only + pairs.replayed_only + pairs.neither, 300);
  EXPECT_GT(pairs.recorded_only, 0);
  const ReplayedRun recorded = replayed_run_of(was.run, was.simulated);
  const ReplayedRun again = replayed_run_of(is.run, is.simulated);
  const auto counted = [](const RecordedForTest& run) {
    std::int64_t met = 0;
    for (const Outcome& outcome : run.simulated.result.outcomes) {
      met += outcome.finished() && outcome.ttft() <= Duration::from_seconds(1) ? 1 : 0;
    }
    return met;
  };
  EXPECT_EQ(pairs.both + pairs.recorded_only, counted(was));
  EXPECT_EQ(pairs.both + pairs.replayed_only, counted(is));
  EXPECT_EQ(recorded.policy, "queue_depth");
  EXPECT_EQ(again.policy, "none");
  EXPECT_EQ(recorded.admitted + recorded.deferred + recorded.rejected, 300);
  EXPECT_GT(recorded.rejected + recorded.deferred, 0);
  EXPECT_EQ(again.admitted, 300);
  EXPECT_EQ(again.rejected + again.deferred, 0);
  // Nobody is refused, so they are the same share.
  EXPECT_EQ(again.goodput, again.attainment_admitted);
  EXPECT_LT(recorded.ttft_ms.p95, again.ttft_ms.p95);
}

TEST(ClosedReplay, WithoutAnSloFinishingIsWhatCounts) {
  const RecordedForTest was = record_for_test(run_with("admission: {policy: reject_all}\n"));
  const RecordedForTest is = record_for_test(run_with(""));
  const PairedOutcomes pairs = pair_outcomes(was.simulated, is.simulated, was.run);
  EXPECT_FALSE(pairs.has_slo);
  EXPECT_EQ(pairs.both, 0);
  EXPECT_EQ(pairs.recorded_only, 0);
  EXPECT_EQ(pairs.replayed_only, 300);
  EXPECT_EQ(replayed_run_of(was.run, was.simulated).goodput, std::nullopt);
}

TEST(ClosedReplay, AGateSeesTheReplicasThatItDecidesAbout) {
  const auto replicas = [](const std::string& at, const std::string& deployment) {
    return replicas_behind_gate(prepared_for_test(
        "deployment:\n  model: llama-3.1-8b\n  hardware: h100-sxm\n" + deployment +
        "workload:\n  requests: 10\n"
        "  arrivals: {process: poisson, rate_rps: 6}\n"
        "  prompt_tokens: {distribution: constant, value: 100}\n"
        "  output_tokens: {distribution: constant, value: 10}\n"
        "admission: {policy: reject_all, at: " +
        at + "}\n"));
  };
  EXPECT_EQ(replicas("fleet", "  replicas: 3\n"), 3U);
  EXPECT_EQ(replicas("pool", "  replicas: 3\n"), 3U);
  EXPECT_EQ(replicas("replica", "  replicas: 3\n"), 1U);
}

}  // namespace
}  // namespace inferscale
