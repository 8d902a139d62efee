// Distributions against their exact distribution functions, moments and golden draws.

#include "base/distributions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/distributions_test_support.h"

namespace inferscale {
namespace {

constexpr int kDraws = 100'000;

template <typename Draw>
std::vector<double> sample(Draw&& draw, int count = kDraws) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(draw());
  return values;
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

TEST(Exponential, FollowsItsDistribution) {
  RandomStream stream(1, "exponential");
  const auto values = sample([&] { return draw_exponential(stream); });
  EXPECT_LT(kolmogorov_smirnov(values, [](double x) { return 1 - std::exp(-x); }),
            kKolmogorovSmirnovLimit);
  EXPECT_NEAR(moments_of(values).mean, 1, 5 / std::sqrt(kDraws));
}

TEST(StandardNormal, FollowsItsDistributionAndItsPairsAreIndependent) {
  RandomStream stream(2, "normal");
  StandardNormal normal;
  const auto values = sample([&] { return normal.draw(stream); });
  EXPECT_LT(kolmogorov_smirnov(values, normal_cdf), kKolmogorovSmirnovLimit);
  double product = 0;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) product += values[i] * values[i + 1];
  EXPECT_NEAR(product / (kDraws / 2.0), 0, 5 / std::sqrt(kDraws / 2.0));
}

TEST(Lognormal, HasTheMeanAndVariationThatWereAskedFor) {
  RandomStream stream(3, "lognormal");
  Lognormal lognormal(512, 0.7);
  const auto values = sample([&] { return lognormal.draw(stream); });
  const double sigma = std::sqrt(std::log(1 + 0.49));
  const double mu = std::log(512.0) - sigma * sigma / 2;
  EXPECT_LT(
      kolmogorov_smirnov(values, [&](double x) { return normal_cdf((std::log(x) - mu) / sigma); }),
      kKolmogorovSmirnovLimit);
  EXPECT_NEAR(moments_of(values).mean, 512, 5 * 512 * 0.7 / std::sqrt(kDraws));
  EXPECT_NEAR(moments_of(values).deviation / 512, 0.7, 0.02);
}

TEST(Lognormal, WithoutVariationIsItsMean) {
  RandomStream stream(3, "lognormal");
  Lognormal lognormal(512, 0);
  EXPECT_NEAR(lognormal.draw(stream), 512, 1e-10);
}

TEST(Gamma, FollowsItsDistributionWhereThatHasAClosedForm) {
  RandomStream stream(4, "gamma");
  Gamma half(0.5, 3.0);
  EXPECT_LT(kolmogorov_smirnov(sample([&] { return half.draw(stream); }),
                               [](double x) { return std::erf(std::sqrt(x / 3)); }),
            kKolmogorovSmirnovLimit);
  Gamma one(1.0, 0.25);
  EXPECT_LT(kolmogorov_smirnov(sample([&] { return one.draw(stream); }),
                               [](double x) { return 1 - std::exp(-4 * x); }),
            kKolmogorovSmirnovLimit);
  Gamma three(3.0, 2.0);
  EXPECT_LT(kolmogorov_smirnov(sample([&] { return three.draw(stream); }),
                               [](double x) {
                                 const double y = x / 2;
                                 return 1 - std::exp(-y) * (1 + y + y * y / 2);
                               }),
            kKolmogorovSmirnovLimit);
}

TEST(Gamma, HasItsMomentsAtSmallAndLargeShapes) {
  RandomStream stream(5, "gamma moments");
  for (double shape : {0.05, 0.3, 0.9, 1.7, 40.0, 1e6}) {
    Gamma gamma(shape, 1 / shape);
    const Moments found = moments_of(sample([&] { return gamma.draw(stream); }));
    const double deviation = 1 / std::sqrt(shape);
    EXPECT_NEAR(found.mean, 1, 5 * deviation / std::sqrt(kDraws)) << shape;
    // The deviation of a variance estimate follows from the gamma's excess kurtosis, 6 / shape.
    const double error = std::sqrt((2 + 6 / shape) / kDraws) / 2;
    EXPECT_NEAR(found.deviation / deviation, 1, 5 * error) << shape;
  }
}

TEST(WeightedIndex, ChoosesInProportionAndNeverAWeightOfZero) {
  RandomStream stream(6, "weights");
  const std::vector<double> weights = {0, 1, 0, 5, 4, 0};
  WeightedIndex index(weights);
  std::vector<int> counts(weights.size(), 0);
  for (int i = 0; i < kDraws; ++i) ++counts[index.draw(stream)];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(counts[i], kDraws * weights[i] / 10, 5 * std::sqrt(kDraws * weights[i] / 10)) << i;
  }
}

TEST(WeightedIndex, WeightsThatVanishBesideAnotherOneDoNoHarm) {
  RandomStream stream(6, "weights");
  WeightedIndex index({1e300, 1e-300, 0});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(index.draw(stream), 0U);
}

// The bits are the contract: a change here changes every result that was ever published.
TEST(Distributions, GoldenDraws) {
  RandomStream stream(42, "golden");
  StandardNormal normal;
  Gamma boosted(0.5, 2.0);
  Gamma plain(4.0, 0.5);
  Lognormal lognormal(512, 0.7);
  WeightedIndex index({1, 2, 3, 4});
  std::vector<double> drawn;
  for (int i = 0; i < 2; ++i) {
    drawn.push_back(stream.uniform());
    drawn.push_back(draw_exponential(stream));
    drawn.push_back(normal.draw(stream));
    drawn.push_back(boosted.draw(stream));
    drawn.push_back(plain.draw(stream));
    drawn.push_back(lognormal.draw(stream));
    drawn.push_back(static_cast<double>(index.draw(stream)));
  }
  const std::vector<double> golden = {0x1.a477295d436c6p-2,
                                      0x1.43b8520d81385p-5,
                                      -0x1.3d32e148e8cadp-2,
                                      0x1.e90a0002d87c8p-1,
                                      0x1.2b105b301af52p+0,
                                      0x1.d07141d8c34d3p+9,
                                      0,
                                      0x1.373fd954b8a4ap-2,
                                      0x1.a4382cbdaf0b4p-1,
                                      0x1.5edaa458f1fb1p-1,
                                      0x1.e4945c0086217p-2,
                                      0x1.95ab4431a5764p+0,
                                      0x1.e93694258e461p+8,
                                      2};
  ASSERT_EQ(drawn.size(), golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(drawn[i]), std::bit_cast<std::uint64_t>(golden[i]))
        << "draw " << i << " is " << std::hexfloat << drawn[i];
  }
}

}  // namespace
}  // namespace inferscale
