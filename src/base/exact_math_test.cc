// exact_math against the 80-bit functions of the C library, over random and special arguments.

#include "base/exact_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/random.h"

namespace inferscale {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = std::numeric_limits<double>::max();

// The distance in units of the last place of a double of the wanted size.
double ulps(double got, long double wanted) {
  const double rounded = static_cast<double>(wanted);
  if (!std::isfinite(rounded)) return got == rounded ? 0 : kInfinity;
  const int exponent = rounded == 0 ? -1074 : std::max(std::ilogb(rounded) - 52, -1074);
  return static_cast<double>(
      std::fabs(std::scalbn(static_cast<long double>(got) - wanted, -exponent)));
}

class ExactMath : public testing::Test {
 protected:
  void SetUp() override {
    if (std::numeric_limits<long double>::digits < 64) {
      GTEST_SKIP() << "long double is no wider than double: nothing to compare with";
    }
  }
  double between(double low, double high) { return low + (high - low) * stream_.uniform(); }
  RandomStream stream_{20240601, "exact_math_test"};
};

TEST_F(ExactMath, LogarithmIsWithin52HundredthsOfAnUlpEverywhere) {
  double worst = 0;
  for (int i = 0; i < 500'000; ++i) {
    const double uniform = stream_.uniform();
    const double any = std::bit_cast<double>(stream_.next() >> 1);
    const double near_one =
        1 + (uniform - 0.5) * std::scalbn(1.0, -static_cast<int>(stream_.below(50)));
    for (double x : {uniform, any, near_one}) {
      if (!std::isfinite(x) || x == 0) continue;
      worst = std::max(worst, ulps(exact_log(x), std::log(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, 0.52);
  EXPECT_GE(worst, 0.49) << "rounding to double alone costs half a unit: the measure is broken";
}

TEST_F(ExactMath, LogarithmIsRightAroundEveryIntervalBoundary) {
  for (std::uint64_t i = 0; i <= 128; ++i) {
    const std::uint64_t boundary = 0x3fe6000000000000 + (i << 45);
    for (std::uint64_t offset : {0ULL, 1ULL, ~0ULL, 0x1fffffULL, 0x200000ULL, ~0x1fffffULL}) {
      const double x = std::bit_cast<double>(boundary + offset);
      EXPECT_LT(ulps(exact_log(x), std::log(static_cast<long double>(x))), 0.53) << x;
    }
  }
}

TEST_F(ExactMath, ExponentialIsWithin52HundredthsOfAnUlp) {
  double worst = 0;
  double worst_subnormal = 0;
  for (int i = 0; i < 500'000; ++i) {
    const double wide = between(-708, 709.78);
    const double small = between(-1, 1) * std::scalbn(1.0, -static_cast<int>(stream_.below(60)));
    for (double x : {wide, small}) {
      worst = std::max(worst, ulps(exact_exp(x), std::exp(static_cast<long double>(x))));
    }
    const double low = between(-745.2, -708);
    worst_subnormal =
        std::max(worst_subnormal, ulps(exact_exp(low), std::exp(static_cast<long double>(low))));
  }
  EXPECT_LT(worst, 0.52);
  EXPECT_LT(worst_subnormal, 1.0);
}

TEST_F(ExactMath, PowerIsWithin55HundredthsOfAnUlp) {
  double worst = 0;
  for (int i = 0; i < 500'000; ++i) {
    const double spread = std::scalbn(2000.0, -static_cast<int>(stream_.below(20)));
    const double x = std::exp2(between(-0.5, 0.5) * spread);
    const double y = between(-700, 700) / std::log(x);
    const double uniform = stream_.uniform();
    const double boost = 1 / between(0.01, 1);
    for (const auto& [base, exponent] : {std::pair{x, y}, {uniform, boost}}) {
      const long double wanted =
          std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
      if (!(wanted > std::numeric_limits<double>::min())) continue;
      worst = std::max(worst, ulps(exact_pow(base, exponent), wanted));
    }
  }
  EXPECT_LT(worst, 0.55);
}

TEST(ExactMathSpecialValues, Logarithm) {
  EXPECT_EQ(exact_log(1), 0);
  EXPECT_EQ(exact_log(0.0), -kInfinity);
  EXPECT_EQ(exact_log(-0.0), -kInfinity);
  EXPECT_EQ(exact_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(exact_log(-1)));
  EXPECT_TRUE(std::isnan(exact_log(kNan)));
  EXPECT_NEAR(exact_log(kSmallest), -744.4400719213812, 1e-12);
  EXPECT_NEAR(exact_log(kLargest), 709.782712893384, 1e-12);
}

TEST(ExactMathSpecialValues, Exponential) {
  EXPECT_EQ(exact_exp(0), 1);
  EXPECT_EQ(exact_exp(kInfinity), kInfinity);
  EXPECT_EQ(exact_exp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(exact_exp(kNan)));
  EXPECT_EQ(exact_exp(709.79), kInfinity);
  EXPECT_LT(exact_exp(709.78), kInfinity);
  EXPECT_EQ(exact_exp(-746), 0);
  EXPECT_EQ(exact_exp(-745.1), kSmallest);
  EXPECT_EQ(exact_exp(1), 0x1.5bf0a8b145769p+1);
}

TEST(ExactMathSpecialValues, Power) {
  EXPECT_EQ(exact_pow(2, 10), 1024);
  EXPECT_EQ(exact_pow(10, -3), 0.001);
  EXPECT_EQ(exact_pow(kNan, 0), 1);
  EXPECT_EQ(exact_pow(1, kNan), 1);
  EXPECT_EQ(exact_pow(0, 2), 0);
  EXPECT_EQ(exact_pow(0, -2), kInfinity);
  EXPECT_EQ(exact_pow(kInfinity, 2), kInfinity);
  EXPECT_EQ(exact_pow(kInfinity, -2), 0);
  EXPECT_EQ(exact_pow(0.5, kInfinity), 0);
  EXPECT_EQ(exact_pow(0.5, -kInfinity), kInfinity);
  EXPECT_EQ(exact_pow(1e-300, 1e4), 0);
  EXPECT_EQ(exact_pow(1 + 0x1p-52, 0x1p62), exact_exp(1024));
  EXPECT_TRUE(std::isnan(exact_pow(-2, 2)));
  EXPECT_TRUE(std::isnan(exact_pow(2, kNan)));
}

}  // namespace
}  // namespace inferscale
