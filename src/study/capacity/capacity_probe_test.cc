// When a load counts as carried: each criterion alone, and what is kept as evidence.

#include "study/capacity/capacity_probe.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

RunResult good(double goodput = 1) {
  RunResult record;
  record.figures.set(Metric::kGoodput, goodput);
  record.figures.set(Metric::kArrivalWindow, 1000);
  record.figures.set(Metric::kDrain, 1);
  record.figures.set(Metric::kServiceMax, 2);
  record.figures.set(Metric::kUnfinished, 0);
  return record;
}

RunResult good_but(Metric metric, std::optional<double> value) {
  RunResult record = good();
  record.figures.set(metric, value);
  return record;
}

CapacityProbe judged(const std::vector<RunResult>& records, const Slo& slo = {},
                     const CapacityOptions& options = {}) {
  return judge_load(records, slo, options);
}

TEST(JudgeLoad, NeedsEveryRepetitionToReachTheAttainment) {
  EXPECT_TRUE(judged({good(), good(0.99)}).carried) << "the target itself is reached";
  const CapacityProbe probe = judged({good(), good(0.989), good()});
  EXPECT_FALSE(probe.carried);
  EXPECT_EQ(probe.missed_attainment, 1);
  EXPECT_TRUE(judged({good(), good(0.989)}, {}, {.attainment = 0.9}).carried);
}

// 0.9, 0.95 and 1: mean 0.95, deviation 0.05 by hand.
TEST(JudgeLoad, KeepsMeanWorstBestAndDeviation) {
  const CapacityProbe probe = judged({good(0.95), good(1), good(0.9)});
  ASSERT_TRUE(probe.attainment);
  EXPECT_NEAR(probe.attainment->mean, 0.95, 1e-15);
  EXPECT_EQ(probe.attainment->worst, 0.9);
  EXPECT_EQ(probe.attainment->best, 1);
  EXPECT_NEAR(*probe.attainment->deviation, 0.05, 1e-15);
  EXPECT_FALSE(probe.all_alike);
  const CapacityProbe alone = judged({good(0.95)});
  EXPECT_FALSE(alone.attainment->deviation) << "one repetition has no spread";
}

TEST(JudgeLoad, NeedsEveryRepetitionToDrain) {
  const CapacityProbe late = judged({good(), good_but(Metric::kDrain, 63)});
  EXPECT_FALSE(late.carried);
  EXPECT_EQ(late.not_drained, 1);
  EXPECT_EQ(late.drain_s, 63);
  EXPECT_EQ(late.drain_bound_s, 62);
  EXPECT_TRUE(judged({good_but(Metric::kDrain, 62)}).carried) << "60 s and the longest service";
  const CapacityProbe open = judged({good_but(Metric::kUnfinished, 1)});
  EXPECT_FALSE(open.carried);
  EXPECT_EQ(open.unfinished, 1);
}

TEST(JudgeLoad, BoundsTheDrainByWindowTargetsAndService) {
  const auto bound = [](double window, const Slo& slo, const CapacityOptions& options = {}) {
    return *judged({good_but(Metric::kArrivalWindow, window)}, slo, options).drain_bound_s;
  };
  EXPECT_EQ(bound(1000, {}), 62);
  EXPECT_EQ(bound(100, {}), 12) << "a tenth of a short window";
  EXPECT_EQ(bound(100, {.ttft = Duration::from_seconds(20)}), 22) << "a wait that is allowed";
  EXPECT_EQ(bound(1000, {.e2e = Duration::from_seconds(300)}), 302);
  EXPECT_EQ(bound(1000, {.itl = Duration::from_seconds(300)}), 62) << "a gap is no wait";
  EXPECT_EQ(bound(1000, {.e2e = Duration::from_seconds(300)},
                  {.drain_within = Duration::from_seconds(5)}),
            5);
}

TEST(JudgeLoad, DoesNotPassWhatWasNotSimulatedOrNotJudged) {
  const RunResult broken{.figures = {}, .failure = "no room"};
  const CapacityProbe probe = judged({good(), broken, broken});
  EXPECT_FALSE(probe.carried);
  EXPECT_EQ(probe.not_simulated, 2);
  EXPECT_EQ(probe.failures, std::vector<std::string>{"no room"});
  ASSERT_TRUE(probe.attainment) << "of the others";
  EXPECT_EQ(probe.attainment->mean, 1);
  const CapacityProbe empty = judged({good_but(Metric::kGoodput, std::nullopt)});
  EXPECT_FALSE(empty.carried);
  EXPECT_EQ(empty.not_judged, 1);
  EXPECT_FALSE(empty.attainment);
}

TEST(JudgeLoad, FlagsABacklogThatGrowsWithoutFailingItForThat) {
  const CapacityProbe probe = judged({good_but(Metric::kSaturated, 1), good()});
  EXPECT_TRUE(probe.carried);
  EXPECT_EQ(probe.saturated, 1);
}

TEST(JudgeLoad, MeansAreOverTheRepetitionsThatHaveTheFigure) {
  const CapacityProbe probe =
      judged({good_but(Metric::kTtftP95, 100), good_but(Metric::kTtftP95, 300), good()});
  EXPECT_EQ(probe.mean[Metric::kTtftP95], 200);
  EXPECT_EQ(probe.mean[Metric::kServiceMax], 2);
  EXPECT_FALSE(probe.mean[Metric::kE2eP95]);
  EXPECT_TRUE(judged({good(), good()}).all_alike);
}

}  // namespace
}  // namespace inferscale
