// Drawn times: means, clamping, whole nanoseconds.

#include "workload/delays.h"

#include <gtest/gtest.h>

#include <cmath>

namespace inferscale {
namespace {

double mean_s(const DelayOptions& options, int draws) {
  DelaySampler sampler(options, RandomStream(5, "think_times"));
  double sum = 0;
  for (int i = 0; i < draws; ++i) sum += sampler.draw().seconds();
  return sum / draws;
}

TEST(Delays, HaveTheirMeans) {
  constexpr int kDraws = 100'000;
  const double error = 5 / std::sqrt(double{kDraws});  // five deviations of the mean, for cv 1
  EXPECT_DOUBLE_EQ(mean_s({.mean_s = 2.5}, 10), 2.5);
  EXPECT_NEAR(mean_s({.shape = DelayShape::kExponential, .mean_s = 3}, kDraws), 3, 3 * error);
  EXPECT_NEAR(mean_s({.shape = DelayShape::kLognormal, .mean_s = 3, .cv = 0.5}, kDraws), 3,
              1.5 * error);
}

TEST(Delays, AreClampedToTheirBounds) {
  DelaySampler sampler({.shape = DelayShape::kExponential,
                        .mean_s = 1,
                        .min = Duration::from_seconds(0.5),
                        .max = Duration::from_seconds(1.5)},
                       RandomStream(5, "think_times"));
  int at_min = 0;
  int at_max = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double seconds = sampler.draw().seconds();
    ASSERT_GE(seconds, 0.5);
    ASSERT_LE(seconds, 1.5);
    at_min += seconds == 0.5;
    at_max += seconds == 1.5;
  }
  // 1 - exp(-0.5) and exp(-1.5) of the draws, to five deviations.
  EXPECT_NEAR(at_min * 1e-4, 0.3935, 0.025);
  EXPECT_NEAR(at_max * 1e-4, 0.2231, 0.025);
}

TEST(Delays, OfEnormousDrawsAreTheLongest) {
  DelaySampler sampler({.shape = DelayShape::kLognormal, .mean_s = 1e6, .cv = 100},
                       RandomStream(5, "think_times"));
  bool longest = false;
  for (int i = 0; i < 10'000; ++i) {
    longest = longest || sampler.draw().ns() == DelayOptions::kLongest;
  }
  EXPECT_TRUE(longest);
}

}  // namespace
}  // namespace inferscale
