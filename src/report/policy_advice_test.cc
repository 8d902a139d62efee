// Advice about policies: the tree's leaves, and what is read from a folder.

#include "report/policy_advice.h"

#include <gtest/gtest.h>

#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

using Names = std::vector<std::string>;

RunEvidence calm() {
  return {.name = "calm",
          .kv_used_peak = 0.4,
          .kv_samples = 100,
          .queue_peak = 0,
          .queue_samples = 100};
}

TEST(PolicyAdvice, AdmitsEverythingWhereNothingMoves) {
  EXPECT_EQ(advise(calm()).policies, Names{"none"});
  RunEvidence with_deadlines = calm();
  with_deadlines.slo_ttft_ms = 500;  // a bound that never acts is not worth having
  EXPECT_EQ(advise(with_deadlines).policies, Names{"none"});
}

TEST(PolicyAdvice, BoundsDeadlinesWhereThePoolIsContended) {
  RunEvidence run = calm();
  run.requests = 10;
  run.with_deadline = 3;
  run.kv_used_peak = 0.97;
  EXPECT_EQ(advise(run).policies.front(), "wcrt");
  run.with_deadline = 0;
  EXPECT_NE(advise(run).policies.front(), "wcrt");
  run.slo_ttft_ms = 500;
  EXPECT_EQ(advise(run).policies.front(), "wcrt");
}

TEST(PolicyAdvice, WatchesAFullCacheByWhetherItIsFoundAgain) {
  RunEvidence run = calm();
  run.kv_used_peak = 0.9;
  EXPECT_EQ(advise(run).policies.front(), "kv_threshold");  // no prefix cache
  run.prefix_hit_rate = 0.49;
  EXPECT_EQ(advise(run).policies.front(), "kv_threshold");
  run.prefix_hit_rate = 0.5;
  EXPECT_EQ(advise(run).policies.front(), "dual_gate");
}

TEST(PolicyAdvice, WatchesTheQueueWhereOnlyItMoves) {
  RunEvidence run = calm();
  run.queue_peak = 40;
  EXPECT_EQ(advise(run).policies, Names{"none"});  // in no sample
  run.queue_samples_above_zero = 1;
  EXPECT_EQ(advise(run).policies.front(), "queue_age");
  run.queue_samples = 101;  // less than one in a hundred
  EXPECT_EQ(advise(run).policies, Names{"none"});
}

TEST(PolicyAdvice, SaysWhatTheFolderDoesNotSay) {
  const PolicyAdvice advice = advise({.name = "bare"});
  EXPECT_EQ(advice.policies, Names{"none"});
  EXPECT_FALSE(advice.answers[1].yes.has_value());
  EXPECT_NE(advice.why.find("until a run shows"), std::string::npos);
}

TEST(PolicyAdvice, SaysThatARunIsSimulated) {
  EXPECT_NE(advise(calm()).notes.front().find("simulated"), std::string::npos);
  RunEvidence live = calm();
  live.simulated = false;
  EXPECT_TRUE(advise(live).notes.empty());
}

TEST(PolicyAdvice, ReadsTheFolder) {
  const TestFolder folder;
  folder.write("manifest.json",
               R"({"schema":"inferscale.run","version":1,"simulated":false,"name":"x",)"
               R"("config":{"slo_classes":{"a":{},"b":{}}}})");
  folder.write("summary.json",
               R"({"slo":{"ttft_ms":500.0},"kv":{"used_fraction_peak":0.95},)"
               R"("prefix_hit_rate":null,"queue":{"depth_peak":7},"preemptions":3})");
  folder.write("signals.jsonl",
               "{\"queue_depth\":0,\"kv_used_fraction\":0.9}\n"
               "{\"queue_depth\":2,\"kv_used_fraction\":0.89}\n"
               "{\"queue_depth\":2,\"kv_used_fraction\":null}\n");
  folder.write("outcomes.jsonl", "{\"deadline_ms\":80}\n{\"deadline_ms\":null}\n{\"id\":2}\n");
  const Result<RunEvidence> run = read_run_evidence(folder / "");
  ASSERT_TRUE(run.has_value()) << run.error().to_string();
  EXPECT_FALSE(run->simulated);
  EXPECT_EQ(run->slo_classes, 2);
  EXPECT_EQ(run->slo_ttft_ms, 500);
  EXPECT_EQ(run->kv_used_peak, 0.95);
  EXPECT_FALSE(run->prefix_hit_rate.has_value());
  EXPECT_EQ(run->queue_peak, 7);
  EXPECT_EQ(run->kv_samples, 2);
  EXPECT_EQ(run->kv_samples_full, 1);
  EXPECT_EQ(run->queue_samples, 3);
  EXPECT_EQ(run->queue_samples_above_zero, 2);
  EXPECT_EQ(run->requests, 3);
  EXPECT_EQ(run->with_deadline, 1);
  EXPECT_EQ(advise(*run).policies.front(), "wcrt");
}

TEST(PolicyAdvice, RefusesWhatItDoesNotKnow) {
  const TestFolder folder;
  EXPECT_EQ(read_run_evidence(folder / "x").error().code, ErrorCode::kNotFound);
  folder.write("manifest.json",
               R"({"schema":"inferscale.run","version":9,"simulated":true,"name":"x"})");
  EXPECT_NE(read_run_evidence(folder / "").error().to_string().find("expected version 1"),
            std::string::npos);
  folder.write("manifest.json",
               R"({"schema":"inferscale.run","version":1,"simulated":true,"name":"x"})");
  folder.write("summary.json", "{");
  EXPECT_NE(read_run_evidence(folder / "").error().to_string().find("summary.json"),
            std::string::npos);
}

}  // namespace
}  // namespace inferscale
