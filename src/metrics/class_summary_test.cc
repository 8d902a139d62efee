// Figures of classes, worked by hand.

#include "metrics/class_summary.h"

#include <gtest/gtest.h>

#include "metrics/run_summary.h"

namespace inferscale {
namespace {

Instant at_ms(double ms) {
  return Instant() + Duration::from_millis(ms);
}

// Arrives at `arrival_ms`, its first token comes after `ttft_ms`, its last 100 ms later.
Outcome finished(double arrival_ms, double ttft_ms) {
  Outcome outcome;
  outcome.status = OutcomeStatus::kFinished;
  outcome.arrival = at_ms(arrival_ms);
  outcome.start = outcome.arrival;
  outcome.first_token = at_ms(arrival_ms + ttft_ms);
  outcome.finish = at_ms(arrival_ms + ttft_ms + 100);
  outcome.prompt_tokens = 10;
  outcome.output_tokens = 1;
  return outcome;
}

Outcome ended(double arrival_ms, OutcomeStatus status) {
  Outcome outcome;
  outcome.arrival = at_ms(arrival_ms);
  outcome.status = status;
  return outcome;
}

class ClassSummaryTest : public ::testing::Test {
 protected:
  // In order of arrival:      interactive   batch
  //   0  TTFT 400 ms             met
  //   1  TTFT 600 ms             missed
  //   2  TTFT 600 ms                          met (no target of TTFT)
  //   3  refused                              missed
  //   4  deferred                missed
  //   5  TTFT 5000 ms                         E2E 5100 ms: missed
  std::vector<Outcome> outcomes_ = {finished(0, 400),
                                    finished(10, 600),
                                    finished(20, 600),
                                    ended(30, OutcomeStatus::kRefused),
                                    ended(40, OutcomeStatus::kDeferred),
                                    finished(50, 5000)};
  std::vector<std::uint8_t> of_ = {0, 0, 1, 1, 0, 1};
  std::vector<SloClass> classes_ = {
      {.name = "interactive", .slo = {.ttft = Duration::from_millis(500)}, .priority = 10},
      {.name = "batch", .slo = {.e2e = Duration::from_millis(5000)}}};
  RequestClasses requests_{.classes = classes_, .of = of_};
};

TEST_F(ClassSummaryTest, EachClassIsJudgedByItsOwnTargets) {
  const std::vector<ClassFigures> figures = summarize_classes(outcomes_, requests_, 0);
  ASSERT_EQ(figures.size(), 2U);
  const ClassFigures& interactive = figures[0];
  EXPECT_EQ(interactive.name, "interactive");
  EXPECT_EQ(interactive.priority, 10);
  EXPECT_EQ(interactive.arrived, 3);
  EXPECT_EQ(interactive.finished, 2);
  EXPECT_EQ(interactive.deferred, 1);
  EXPECT_EQ(interactive.met, 1);
  EXPECT_EQ(interactive.goodput(), 1.0 / 3);
  EXPECT_EQ(interactive.attainment_admitted(), 0.5);
  EXPECT_EQ(interactive.ttft_p95_ms, 600);
  const ClassFigures& batch = figures[1];
  EXPECT_EQ(batch.refused, 1);
  EXPECT_EQ(batch.met, 1);
  EXPECT_EQ(batch.goodput(), 1.0 / 3);
  EXPECT_EQ(batch.ttft_p95_ms, 5000);
}

TEST_F(ClassSummaryTest, TheRunsGoodputIsTheirSum) {
  const DurationHistogram gaps;
  RunFacts facts{.end = at_ms(6000), .kv_blocks = 1};
  facts.classes = requests_;
  const RunSummary summary = summarize_run(outcomes_, gaps, facts);
  EXPECT_TRUE(summary.has_slo);
  EXPECT_EQ(summary.slo_met, 2);
  EXPECT_EQ(summary.goodput, 2.0 / 6);
  EXPECT_EQ(summary.admitted, 4);
  EXPECT_EQ(summary.attainment_admitted, 0.5);
  // Finished ones of the batch class have no target of TTFT to miss, nor those of the other of E2E.
  EXPECT_EQ(summary.ttft_met, 3);
  EXPECT_EQ(summary.e2e_met, 3);
  EXPECT_EQ(summary.classes.size(), 2U);
}

TEST_F(ClassSummaryTest, TheWarmupIsLeftOut) {
  const DurationHistogram gaps;
  RunFacts facts{
      .measurement = {.warmup = Duration::from_millis(15)}, .end = at_ms(6000), .kv_blocks = 1};
  facts.classes = requests_;
  const RunSummary summary = summarize_run(outcomes_, gaps, facts);
  ASSERT_EQ(summary.counted, 4);
  EXPECT_EQ(summary.slo_met, 1);  // request 2 alone
  EXPECT_EQ(summary.classes[0].arrived, 3);
  EXPECT_EQ(summary.classes[0].counted, 1);
  EXPECT_EQ(summary.classes[0].met, 0);
  EXPECT_EQ(summary.classes[0].ttft_p95_ms, std::nullopt);
  EXPECT_EQ(summary.classes[1].counted, 3);
  EXPECT_EQ(summary.classes[1].met, 1);
}

TEST_F(ClassSummaryTest, WithoutAnyTargetNothingIsJudged) {
  for (SloClass& each : classes_) each.slo = {};
  const std::vector<ClassFigures> figures = summarize_classes(outcomes_, requests_, 0);
  EXPECT_EQ(figures[0].met, 0);
  EXPECT_EQ(figures[0].goodput(), std::nullopt);
  classes_[0].slo.ttft = Duration::from_millis(500);
  // Now the other class asks for no more than an answer.
  const std::vector<ClassFigures> judged = summarize_classes(outcomes_, requests_, 0);
  EXPECT_EQ(judged[1].met, 2);
  EXPECT_EQ(judged[1].goodput(), 2.0 / 3);
}

}  // namespace
}  // namespace inferscale
