// Small columns whose agreement can be counted by hand.

#include "validation/agreement.h"

#include <gtest/gtest.h>

#include <vector>

namespace inferscale {
namespace {

TEST(Agreement, OrderIsCountedOverPairsWithoutTies) {
  const std::vector<double> left = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(kendall_tau(left, std::vector<double>{10, 20, 30, 40}), 1);
  EXPECT_DOUBLE_EQ(kendall_tau(left, std::vector<double>{4, 3, 2, 1}), -1);
  // Of six pairs the first two rows are tied and one is in the opposite order: (4 - 1) / 5.
  EXPECT_DOUBLE_EQ(kendall_tau(left, std::vector<double>{1, 1, 3, 2}), 0.6);
}

TEST(Agreement, InversionsArePairsTheWrongWayRound) {
  EXPECT_EQ(inversions(std::vector<double>{1, 1, 2}), 0);
  EXPECT_EQ(inversions(std::vector<double>{3, 1, 2}), 2);
}

TEST(Agreement, ErrorsAreOursLessTheirs) {
  const Errors errors = errors_of(std::vector<double>{3, 1}, std::vector<double>{0, 2});
  EXPECT_DOUBLE_EQ(errors.mean, 1);
  EXPECT_DOUBLE_EQ(errors.mean_absolute, 2);
  EXPECT_DOUBLE_EQ(errors.p95_absolute, 3);
  EXPECT_DOUBLE_EQ(errors.root_mean_square * errors.root_mean_square, 5);
}

}  // namespace
}  // namespace inferscale
