// Lengths against the distribution that rounding and clamping leave, computed from the exact
// log-normal distribution function.

#include "workload/lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace inferscale {
namespace {

constexpr int kDraws = 200'000;

std::vector<std::uint32_t> sample(const LengthOptions& options, int count = kDraws) {
  LengthSampler sampler(options, RandomStream(42, "prompt_tokens"));
  std::vector<std::uint32_t> lengths;
  for (int i = 0; i < count; ++i) lengths.push_back(sampler.draw());
  return lengths;
}

double mean_of(const std::vector<std::uint32_t>& lengths) {
  double sum = 0;
  for (std::uint32_t length : lengths) sum += length;
  return sum / static_cast<double>(lengths.size());
}

double lognormal_cdf(double mean, double cv, double x) {
  const double sigma = std::sqrt(std::log(1 + cv * cv));
  const double mu = std::log(mean) - sigma * sigma / 2;
  return 0.5 * std::erfc(-(std::log(x) - mu) / sigma / std::sqrt(2.0));
}

// The mean of max(1, round(X)): the sum over k of P(max(1, round(X)) > k).
double rounded_mean(double mean, double cv) {
  double sum = 1;
  for (int k = 1; k < 10'000'000; ++k) {
    const double above = 1 - lognormal_cdf(mean, cv, k + 0.5);
    sum += above;
    if (above < 1e-13) break;
  }
  return sum;
}

TEST(ConstantLength, IsAlwaysTheSame) {
  for (std::uint32_t length : sample({ConstantLength{512}}, 10)) EXPECT_EQ(length, 512U);
  EXPECT_EQ(sample({ConstantLength{512}, 1, 100}, 1).front(), 100U);
}

TEST(LognormalLength, FollowsItsRoundedDistribution) {
  auto lengths = sample({LognormalLength{512, 0.7}});
  std::sort(lengths.begin(), lengths.end());
  double distance = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double at = lognormal_cdf(512, 0.7, lengths[static_cast<std::size_t>(i)] + 0.5);
    const bool last_of_its_value = i + 1 == kDraws || lengths[static_cast<std::size_t>(i) + 1] !=
                                                          lengths[static_cast<std::size_t>(i)];
    if (last_of_its_value) distance = std::max(distance, std::fabs(at - (i + 1.0) / kDraws));
  }
  EXPECT_LT(distance * std::sqrt(kDraws), 1.95);
}

TEST(LognormalLength, RoundingShiftsTheMeanAsTheHeaderSays) {
  for (double mean : {10.0, 50.0, 512.0}) {
    for (double cv : {0.1, 0.5, 1.0}) {
      EXPECT_NEAR(rounded_mean(mean, cv), mean, 0.01) << mean << " " << cv;
    }
  }
  EXPECT_NEAR(rounded_mean(2, 1), 2.11, 0.005);
  for (double mean : {1.0, 2.0, 10.0}) {
    const auto lengths = sample({LognormalLength{mean, 1}});
    EXPECT_NEAR(mean_of(lengths), rounded_mean(mean, 1), 5 * 1.1 * mean / std::sqrt(kDraws));
    EXPECT_GE(*std::min_element(lengths.begin(), lengths.end()), 1U);
  }
}

TEST(LognormalLength, WithoutVariationIsTheMean) {
  for (double mean : {1.0, 7.0, 512.0, 131072.0, 1e7}) {
    const auto lengths = sample({LognormalLength{mean, 0}}, 10);
    EXPECT_EQ(lengths.front(), static_cast<std::uint32_t>(mean));
    EXPECT_EQ(lengths.back(), static_cast<std::uint32_t>(mean));
  }
}

TEST(LognormalLength, ClampsToItsBoundsEvenAtTheLargestVariation) {
  const auto lengths = sample({LognormalLength{100, 2}, 20, 300});
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), 20U);
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), 300U);
  const double at_most = static_cast<double>(std::count(lengths.begin(), lengths.end(), 300U));
  EXPECT_NEAR(at_most / kDraws, 1 - lognormal_cdf(100, 2, 299.5), 0.005);
  for (std::uint32_t length : sample({LognormalLength{1e7, 100}})) {
    ASSERT_GE(length, 1U);
    ASSERT_LE(length, kMostTokens);
  }
}

TEST(EmpiricalLength, TakesItsValuesByWeightAndClampsThem) {
  std::map<std::uint32_t, double> counts;
  for (std::uint32_t length : sample({EmpiricalLength{{10, 20, 5000}, {1, 2, 1}}, 1, 4096})) {
    counts[length] += 1.0 / kDraws;
  }
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_NEAR(counts[10], 0.25, 0.005);
  EXPECT_NEAR(counts[20], 0.5, 0.006);
  EXPECT_NEAR(counts[4096], 0.25, 0.005);
}

TEST(EmpiricalLength, WithoutWeightsTakesAllAlike) {
  std::map<std::uint32_t, double> counts;
  for (std::uint32_t length : sample({EmpiricalLength{{1, 2, 3, 4}, {}}})) {
    counts[length] += 1.0 / kDraws;
  }
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [length, share] : counts) EXPECT_NEAR(share, 0.25, 0.005) << length;
}

TEST(Lengths, GoldenDraws) {
  using Golden = std::vector<std::uint32_t>;
  EXPECT_EQ(sample({LognormalLength{512, 0.7}}, 6), (Golden{520, 486, 305, 527, 303, 247}));
  EXPECT_EQ(sample({EmpiricalLength{{10, 20, 30, 40}, {4, 3, 2, 1}}}, 6),
            (Golden{30, 30, 10, 40, 10, 30}));
}

}  // namespace
}  // namespace inferscale
