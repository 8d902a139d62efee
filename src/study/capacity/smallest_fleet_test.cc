// The search for a fleet against brute force: records are made up, so the truth is known.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "study/capacity/capacity_test_support.h"

namespace inferscale {
namespace {

TEST(SmallestFleet, IsFoundExactlyByDoublingAndBisection) {
  for (int truth = 1; truth <= 70; ++truth) {
    for (const char* start : {"1", "6", "64"}) {
      FakeExecutor executor = oracle([=](double n) { return n >= truth; }, "deployment.replicas");
      const CapacityResult result =
          found(kConfig + "study: {capacity: {search: replicas, for_load: 80}}\n", executor);
      ASSERT_EQ(result.verdict, CapacityVerdict::kFound) << truth << " from " << start;
      EXPECT_EQ(result.carried, truth);
      EXPECT_EQ(result.not_carried, truth == 1 ? std::nullopt : std::optional(truth - 1.0));
      EXPECT_EQ(result.recommended, std::ceil(truth / 0.8));
      EXPECT_TRUE(result.easier_failed.empty());
      for (const RunRequest& request : executor.asked) {
        EXPECT_EQ(number_of(request, "workload.arrivals.rate_rps"), 80);
      }
    }
  }
}

TEST(SmallestFleet, ThatIsTooLargeIsNotFound) {
  FakeExecutor executor = oracle([](double n) { return n >= 9; }, "deployment.replicas");
  const CapacityResult result = found(with_study("search: replicas, max_replicas: 8"), executor);
  EXPECT_EQ(result.verdict, CapacityVerdict::kNeverPassed);
  EXPECT_EQ(result.not_carried, 8);
  EXPECT_EQ(result.best_tried, 8);
  EXPECT_EQ(result.probes.size(), 4U);
  EXPECT_EQ(result.fixed_load, 10);
}

// Attainment as a function of the fleet's size; carried from 0.99.
FakeExecutor fleets(std::function<double(double)> attainment) {
  return FakeExecutor([attainment = std::move(attainment)](const RunRequest& request) {
    return record_of(attainment(number_of(request, "deployment.replicas")));
  });
}

// Best at `peak`, worse the farther from it in ratio.
double peaked(double n, double peak, double at_peak) {
  return at_peak - 0.004 * std::fabs(std::log2(n / peak));
}

TEST(SmallestFleet, ThatLiesBetweenFailuresOnBothSidesIsFoundAroundTheBest) {
  // Carried from 19 to 25 only; doubling sees 16 and 32.
  FakeExecutor executor =
      fleets([](double n) { return n >= 19 && n <= 25 ? 1 : peaked(n, 22, 0.98); });
  const CapacityResult result = found(with_study("search: replicas"), executor);
  ASSERT_EQ(result.verdict, CapacityVerdict::kFound);
  EXPECT_EQ(result.carried, 19);
  EXPECT_EQ(result.not_carried, 18);
  EXPECT_FALSE(result.best_tried);
  EXPECT_EQ(result.easier_failed.front(), 28);
  EXPECT_EQ(result.recommended, 24) << "ceil(19 / 0.8), which is carried";
}

TEST(SmallestFleet, WithNineTenthsHeadroomIsTenTimesAsLarge) {
  FakeExecutor executor = oracle([](double) { return true; }, "deployment.replicas");
  const CapacityResult result = found(with_study("search: replicas, headroom: 0.9"), executor);
  EXPECT_EQ(result.carried, 1);
  EXPECT_EQ(result.recommended, 10);
}

TEST(SmallestFleet, ThatFailsWithHeadroomIsNotRecommended) {
  FakeExecutor executor =
      fleets([](double n) { return n >= 19 && n <= 22 ? 1 : peaked(n, 22, 0.98); });
  const CapacityResult result = found(with_study("search: replicas"), executor);
  EXPECT_EQ(result.carried, 19);
  EXPECT_FALSE(result.recommended);
  EXPECT_NE(result.probe_of(24), nullptr);
}

TEST(SmallestFleet, ThatIsSmallerThanTheConfiguredOneIsFoundThoughLargerOnesFail) {
  std::string config = with_study("search: replicas");
  config.replace(config.find("h100-sxm}"), 9, "h100-sxm, replicas: 64}");
  FakeExecutor executor =
      fleets([](double n) { return n >= 5 && n <= 9 ? 1 : peaked(n, 7, 0.98); });
  const CapacityResult result = found(config, executor);
  ASSERT_EQ(result.verdict, CapacityVerdict::kFound);
  EXPECT_EQ(result.carried, 5);
  EXPECT_EQ(result.not_carried, 4);
}

TEST(SmallestFleet, ThatDoesNotExistIsLookedForAroundTheBestAndNoFurther) {
  FakeExecutor executor = fleets([](double n) { return peaked(n, 12, 0.98); });
  const CapacityResult result = found(with_study("search: replicas"), executor);
  EXPECT_EQ(result.verdict, CapacityVerdict::kNeverPassed);
  EXPECT_EQ(result.best_tried, 12);
  EXPECT_EQ(result.not_carried, 1024);
  EXPECT_EQ(result.probes.size(), 11U + 6U);

  FakeExecutor few = fleets([](double n) { return peaked(n, 3, 0.98); });
  const CapacityResult bounded = found(with_study("search: replicas, max_probes: 5"), few);
  EXPECT_EQ(bounded.probes.size(), 5U);
}

}  // namespace
}  // namespace inferscale
