// Bootstrap intervals: exact distributions of small samples, and coverage on known distributions.

#include "metrics/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/distributions.h"

namespace inferscale {
namespace {

RandomStream stream_of(std::uint64_t seed) {
  return {seed, "bootstrap"};
}

TEST(Bootstrap, ResamplesOfTwoValuesAreBinomial) {
  // Means of two values 0 and 1: 0, 1/2 and 1 with probabilities 1/4, 1/2, 1/4.
  const BootstrapMeans means(std::vector<double>{0, 1}, 100'000, stream_of(1));
  EXPECT_EQ(means.percentile(0.40).low, 0.5);  // 0.3 is above 1/4
  EXPECT_EQ(means.percentile(0.40).high, 0.5);
  EXPECT_EQ(means.percentile(0.60).low, 0);  // 0.2 is below it
  EXPECT_EQ(means.percentile(0.60).high, 1);
}

TEST(Bootstrap, OfFiveZerosAndOnesItIsTheBinomialQuantile) {
  // The sum of a resample of (0 0 0 1 1) is binomial with n 5, p 0.4: P(0) = 0.078, P(<=4) = 0.990.
  const BootstrapMeans means(std::vector<double>{0, 0, 0, 1, 1}, 100'000, stream_of(2));
  EXPECT_EQ(means.percentile(0.95), (MeanInterval{0, 0.8}));
  // Expanded: t(4) 2.776 sqrt(5/4) = 3.104, tail 0.00095: P(5) = 0.0102 is above it.
  EXPECT_EQ(*means.expanded(0.95), (MeanInterval{0, 1}));
}

TEST(Bootstrap, ExpandedIsWiderAndTheMoreSoTheFewerValues) {
  double before = 10;
  for (const std::size_t n : {5u, 10u, 30u, 300u}) {
    StandardNormal normal;
    RandomStream draws(3, "values");
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(normal.draw(draws));
    const BootstrapMeans means(values, 20'000, stream_of(4));
    const MeanInterval plain = means.percentile(0.95);
    const MeanInterval wide = *means.expanded(0.95);
    const double widening = (wide.high - wide.low) / (plain.high - plain.low);
    EXPECT_GT(widening, 1) << n;
    EXPECT_LT(widening, before) << n;
    before = widening;
  }
}

TEST(Bootstrap, TooFewValuesHaveNoExpandedInterval) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7};
  const auto expanded = [&](std::size_t n, double confidence) {
    return BootstrapMeans(std::span(values).first(n), 1000, stream_of(5)).expanded(confidence);
  };
  EXPECT_FALSE(expanded(1, 0.95));
  EXPECT_FALSE(expanded(4, 0.95));
  EXPECT_TRUE(expanded(5, 0.95));
  EXPECT_FALSE(expanded(6, 0.99));
  EXPECT_TRUE(expanded(7, 0.99));
}

TEST(Bootstrap, EqualValuesAreAPoint) {
  const BootstrapMeans means(std::vector<double>(7, 0.1), 100, stream_of(6));
  const MeanInterval interval = *means.expanded(0.95);
  EXPECT_EQ(interval.low, interval.high);
  EXPECT_DOUBLE_EQ(interval.low, 0.1);
}

TEST(Bootstrap, TheSameStreamGivesTheSameInterval) {
  const std::vector<double> values = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto interval = [&](std::uint64_t seed) {
    return BootstrapMeans(values, 1000, stream_of(seed)).percentile(0.95);
  };
  EXPECT_EQ(interval(7), interval(7));
}

// The share of `trials` in which the interval of n draws holds their distribution's mean.
struct Coverage {
  double percentile = 0;
  double expanded = 0;
};
Coverage coverage_of(const std::function<double(RandomStream&)>& draw, double mean, int n,
                     int trials, int resamples) {
  RandomStream draws(11, "coverage");
  Coverage held;
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int trial = 0; trial < trials; ++trial) {
    for (double& value : values) value = draw(draws);
    const BootstrapMeans means(values, resamples, stream_of(static_cast<std::uint64_t>(trial)));
    held.percentile += means.percentile(0.95).holds(mean) ? 1.0 / trials : 0;
    held.expanded += means.expanded(0.95)->holds(mean) ? 1.0 / trials : 0;
  }
  return held;
}

double draw_normal(RandomStream& draws) {
  StandardNormal normal;
  return normal.draw(draws);
}
double draw_lognormal(RandomStream& draws) {
  Lognormal lognormal(1, 1);
  return lognormal.draw(draws);
}
// A rare large value, either way: what the difference of two runs with a rare backlog looks like.
double draw_rare(RandomStream& draws) {
  const double small = draw_normal(draws);
  const bool rare = draws.uniform() < 0.1;
  return rare ? small + (draws.uniform() < 0.5 ? 10 : -10) : small;
}

struct CoverageRow {
  const char* name;
  double (*draw)(RandomStream&);
  double mean;
  int n;
  Coverage documented;  // docs/commands/ab.md: of 10,000 trials with 2,000 resamples
};

constexpr CoverageRow kCoverage[] = {
    {"normal", draw_normal, 0, 5, {0.838, 0.922}},
    {"normal", draw_normal, 0, 10, {0.898, 0.945}},
    {"normal", draw_normal, 0, 30, {0.934, 0.947}},
    {"exponential", draw_exponential, 1, 5, {0.790, 0.873}},
    {"exponential", draw_exponential, 1, 10, {0.861, 0.907}},
    {"exponential", draw_exponential, 1, 30, {0.915, 0.929}},
    {"lognormal", draw_lognormal, 1, 5, {0.752, 0.840}},
    {"lognormal", draw_lognormal, 1, 10, {0.831, 0.877}},
    {"lognormal", draw_lognormal, 1, 30, {0.893, 0.908}},
    {"rare", draw_rare, 0, 5, {0.829, 0.920}},
    {"rare", draw_rare, 0, 10, {0.885, 0.938}},
    {"rare", draw_rare, 0, 30, {0.904, 0.921}},
};

TEST(Bootstrap, CoverageIsWhatTheManualSays) {
  // Four standard errors of a share near 0.8 among 1,000.
  constexpr double kAllowed = 0.05;
  for (const CoverageRow& row : kCoverage) {
    const Coverage held = coverage_of(row.draw, row.mean, row.n, 1000, 500);
    EXPECT_NEAR(held.percentile, row.documented.percentile, kAllowed) << row.name << row.n;
    EXPECT_NEAR(held.expanded, row.documented.expanded, kAllowed) << row.name << row.n;
    EXPECT_GT(held.expanded, held.percentile) << row.name << row.n;
  }
}

}  // namespace
}  // namespace inferscale
