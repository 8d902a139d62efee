#include "study/validation/error_statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace inferscale {
namespace {

TEST(ErrorStatistics, OfOneCase) {
  const std::vector<double> errors = {-0.5};
  const ErrorStatistics of = error_statistics(errors);
  EXPECT_EQ(of.n, 1);
  EXPECT_EQ(of.mape, 0.5);
  EXPECT_EQ(of.median_ape, 0.5);
  EXPECT_EQ(of.max_ape, 0.5);
  EXPECT_EQ(of.bias, -0.5);
  EXPECT_EQ(of.within_quarter, 0);
}

// By hand: absolute errors 0, 0.125, 0.25, 0.625.
TEST(ErrorStatistics, SignsCountForTheBiasOnly) {
  const std::vector<double> errors = {0.25, -0.625, 0, 0.125};
  const ErrorStatistics of = error_statistics(errors);
  EXPECT_EQ(of.n, 4);
  EXPECT_EQ(of.mape, 0.25);
  EXPECT_EQ(of.median_ape, (0.125 + 0.25) / 2);
  EXPECT_EQ(of.max_ape, 0.625);
  EXPECT_EQ(of.bias, -0.0625);
  EXPECT_EQ(of.within_quarter, 3);
}

TEST(ErrorStatistics, MedianOfAnOddNumberIsOneOfThem) {
  const std::vector<double> errors = {3, -1, 0.5};
  EXPECT_EQ(error_statistics(errors).median_ape, 1);
}

}  // namespace
}  // namespace inferscale
