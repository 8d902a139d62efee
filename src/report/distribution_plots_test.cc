#include "report/distribution_plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/distributions.h"
#include "base/random.h"

namespace inferscale {
namespace {

std::vector<double> draws(std::size_t count, std::uint64_t seed) {
  RandomStream stream(seed, "cdf");
  std::vector<double> values(count);
  for (double& value : values) value = draw_exponential(stream);
  return values;
}

// The definition: the share of the values that are at most `value`.
double share_at_most(const std::vector<double>& values, double value) {
  const auto count =
      std::count_if(values.begin(), values.end(), [&](double v) { return v <= value; });
  return static_cast<double>(count) / static_cast<double>(values.size());
}

TEST(CdfPoints, FewValuesHaveAPointEachAndTiesShareOne) {
  const auto points = cdf_points({3, 1, 3, 2}, 100);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].value, 1);
  EXPECT_EQ(points[0].share, 0.25);
  EXPECT_EQ(points[1].share, 0.5);
  EXPECT_EQ(points[2].value, 3);
  EXPECT_EQ(points[2].share, 1.0);
  EXPECT_TRUE(cdf_points({}, 100).empty());
}

TEST(CdfPoints, OfManyValuesEachPointIsExactAndGapsAreBounded) {
  for (const std::size_t count : {901U, 1000U, 12345U, 200000U}) {
    const std::vector<double> values = draws(count, count);
    constexpr std::size_t kMost = 900;
    const auto points = cdf_points(values, kMost);
    EXPECT_LE(points.size(), kMost);
    EXPECT_EQ(points.front().value, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(points.back().value, *std::max_element(values.begin(), values.end()));
    EXPECT_EQ(points.back().share, 1.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i % 50 == 0) {
        ASSERT_EQ(points[i].share, share_at_most(values, points[i].value)) << count;
      }
      if (i == 0) continue;
      EXPECT_GT(points[i].value, points[i - 1].value);
      // Twice the stated bound is never reached: ranks are whole numbers.
      EXPECT_LE(points[i].share - points[i - 1].share,
                1.0 / (kMost / 2) + 1.0 / static_cast<double>(count));
    }
  }
}

TEST(CdfPoints, TheTailIsDrawnRankByRank) {
  std::vector<double> values = draws(200000, 5);
  const auto points = cdf_points(values, 900);
  std::sort(values.begin(), values.end());
  for (std::size_t from_end = 1; from_end <= 10; ++from_end) {
    EXPECT_EQ(points[points.size() - from_end].value, values[values.size() - from_end]);
  }
}

TEST(CdfPoints, ManyEqualValuesAreOnePoint) {
  const auto points = cdf_points(std::vector<double>(5000, 7.5), 900);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].share, 1.0);
}

std::uint64_t counted(const LengthHistogram& histogram) {
  return std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
}

TEST(LengthHistogram, CountsEachValueInItsBar) {
  const LengthHistogram histogram = length_histogram({10, 11, 12, 19, 10}, 5);
  EXPECT_EQ(histogram.width, 2U);
  EXPECT_EQ(histogram.first, 10U);
  EXPECT_EQ(histogram.counts, (std::vector<std::uint64_t>{3, 1, 0, 0, 1}));
  EXPECT_FALSE(histogram.open_ended);
  EXPECT_EQ(histogram.min, 10U);
  EXPECT_EQ(histogram.max, 19U);
}

TEST(LengthHistogram, OneLengthIsOneBar) {
  const LengthHistogram histogram = length_histogram({512, 512, 512}, 48);
  EXPECT_EQ(histogram.first, 512U);
  EXPECT_EQ(histogram.width, 1U);
  EXPECT_EQ(histogram.counts, std::vector<std::uint64_t>{3});
  EXPECT_TRUE(length_histogram({}, 48).counts.empty());
}

TEST(LengthHistogram, AFewLongOnesShareAnOpenBar) {
  std::vector<std::uint32_t> values(1000, 100);
  for (std::uint32_t i = 0; i < 1000; ++i) values[i] += i % 100;
  values[500] = 100000;
  const LengthHistogram histogram = length_histogram(values, 48);
  EXPECT_TRUE(histogram.open_ended);
  EXPECT_EQ(histogram.counts.back(), 1U);
  EXPECT_LE(histogram.width, 5U);
  EXPECT_EQ(histogram.max, 100000U);
  EXPECT_EQ(counted(histogram), 1000U);
}

TEST(LengthHistogram, AnyLengthsAreAllCountedWithinTheBars) {
  RandomStream stream(9, "lengths");
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t limit = std::uint64_t{1} << stream.below(33);
    std::vector<std::uint32_t> values(1 + stream.below(500));
    for (auto& value : values) {
      value = static_cast<std::uint32_t>(std::min<std::uint64_t>(stream.below(limit), 4294967295U));
    }
    const LengthHistogram histogram = length_histogram(values, 48);
    ASSERT_EQ(counted(histogram), values.size());
    ASSERT_LE(histogram.counts.size(), 50U);
    const std::size_t bar = stream.below(histogram.counts.size());
    const std::uint64_t begin = histogram.first + std::uint64_t{histogram.width} * bar;
    const bool last = bar + 1 == histogram.counts.size();
    const auto count = std::count_if(values.begin(), values.end(), [&](std::uint32_t value) {
      return value >= begin && (last || value < begin + histogram.width);
    });
    ASSERT_EQ(histogram.counts[bar], static_cast<std::uint64_t>(count));
  }
}

}  // namespace
}  // namespace inferscale
