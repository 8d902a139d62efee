// MSER-5 against its formula, evaluated cut by cut, and on series whose warm-up is known.

#include "metrics/warmup.h"

#include <gtest/gtest.h>

#include "metrics/single_server_test_support.h"

namespace inferscale {
namespace {

std::optional<std::size_t> mser5_of(std::vector<double> values) {
  VectorStream stream(std::move(values));
  return mser5(stream);
}

// The definition, in quadratic time.
std::optional<std::size_t> by_definition(const std::vector<double>& values) {
  std::vector<double> y;
  for (std::size_t i = 0; i + 5 <= values.size(); i += 5) {
    y.push_back((values[i] + values[i + 1] + values[i + 2] + values[i + 3] + values[i + 4]) / 5);
  }
  std::size_t best = 0;
  double least = 0;
  for (std::size_t d = 0; d + 5 <= y.size(); ++d) {
    const auto left = static_cast<double>(y.size() - d);
    double mean = 0;
    for (std::size_t i = d; i < y.size(); ++i) mean += y[i] / left;
    double squares = 0;
    for (std::size_t i = d; i < y.size(); ++i) squares += (y[i] - mean) * (y[i] - mean);
    const double mser = squares / (left * left);
    if (d > 0 && mser >= least) continue;
    least = mser;
    best = d;
  }
  if (best > y.size() / 2) return std::nullopt;
  return 5 * best;
}

TEST(Mser5, IsItsDefinition) {
  RandomStream random(5, "mser5");
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values(50 + random.below(400));
    const double start = 20 * random.uniform();
    const double length = 1 + 200 * random.uniform();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double rest = 1 - static_cast<double>(i) / length;
      values[i] = random.uniform() + (rest > 0 ? start * rest : 0);
    }
    EXPECT_EQ(mser5_of(values), by_definition(values)) << "round " << round;
  }
}

TEST(Mser5, CutsOffAStartThatIsUnlikeTheRest) {
  RandomStream random(6, "mser5");
  std::vector<double> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random.uniform() + (i < 500 ? 30 : 0);
  }
  const std::size_t cut = mser5_of(values).value_or(0);
  EXPECT_GE(cut, 500U);
  EXPECT_LE(cut, 600U);
}

TEST(Mser5, LeavesASteadySeriesAlmostWhole) {
  EXPECT_EQ(mser5_of(std::vector<double>(1000, 7.0)), 0U);
}

TEST(Mser5, FindsNoEndWhereThereIsNone) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i);
  EXPECT_EQ(mser5_of(values), std::nullopt);
  EXPECT_EQ(mser5_of(std::vector<double>(49, 1.0)), std::nullopt);
  EXPECT_EQ(mser5_of({}), std::nullopt);
}

// A server that begins with 500 requests before it: what is left out takes the bias away.
TEST(Mser5, TakesTheBiasOfABadStartAway) {
  constexpr double kLoad = 0.7;
  constexpr double kMean = 1 / (1 - kLoad);
  double with_s = 0;
  double without_s = 0;
  constexpr int kRuns = 40;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    RandomStream random(run, "start");
    std::vector<double> values;
    double wait = 500;
    for (int i = 0; i < 20'000; ++i) {
      const double service = draw_exponential(random);
      values.push_back(wait + service);
      wait = std::max(0.0, wait + service - draw_exponential(random) / kLoad);
    }
    const std::size_t cut = mser5_of(values).value_or(0);
    const auto mean_from = [&](std::size_t begin) {
      double sum = 0;
      for (std::size_t i = begin; i < values.size(); ++i) sum += values[i];
      return sum / static_cast<double>(values.size() - begin);
    };
    with_s += mean_from(0) / kRuns;
    without_s += mean_from(cut) / kRuns;
  }
  EXPECT_GT(with_s, 3 * kMean);
  EXPECT_NEAR(without_s, kMean, 0.05 * kMean);
}

}  // namespace
}  // namespace inferscale
