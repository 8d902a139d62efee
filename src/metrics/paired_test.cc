// Paired comparisons against figures worked out by hand.

#include "metrics/paired.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(Paired, FiguresOfAnExample) {
  // Deltas: 1, -1, 0, 4; relative: 1/2, -1/4, 0, and none where the baseline is 0.
  const std::vector<double> baseline = {2, 4, 8, 0};
  const std::vector<double> treatment = {3, 3, 8, 4};
  const PairedComparison compared = compare_pairs(baseline, treatment);
  EXPECT_EQ(compared.pairs, 4);
  EXPECT_EQ(compared.baseline_mean, 3.5);
  EXPECT_EQ(compared.treatment_mean, 4.5);
  EXPECT_EQ(compared.delta_mean, 1);
  EXPECT_EQ(compared.delta_median, 0.5);  // of -1, 0, 1, 4
  EXPECT_EQ(compared.higher, 2);
  EXPECT_EQ(compared.lower, 1);
  EXPECT_EQ(compared.equal, 1);
  EXPECT_EQ(compared.relative_pairs, 3);
  EXPECT_DOUBLE_EQ(*compared.relative_change_mean, 0.25 / 3);
}

TEST(Paired, SwappedItIsMirrored) {
  const std::vector<double> a = {2, 4, 9, 3, 1};
  const std::vector<double> b = {3, 3, 8, 4, 7};
  const PairedComparison forth = compare_pairs(a, b);
  const PairedComparison back = compare_pairs(b, a);
  EXPECT_EQ(forth.delta_mean, -back.delta_mean);
  EXPECT_EQ(forth.delta_median, -back.delta_median);
  EXPECT_EQ(forth.higher, back.lower);
  EXPECT_EQ(forth.lower, back.higher);
}

TEST(Paired, AgainstZerosNothingIsRelative) {
  const PairedComparison compared =
      compare_pairs(std::vector<double>{0, 0}, std::vector<double>{1, 2});
  EXPECT_EQ(compared.relative_change_mean, std::nullopt);
  EXPECT_EQ(compared.delta_median, 1.5);
}

TEST(Paired, RelativeToANegativeBaselineARiseIsPositive) {
  EXPECT_EQ(compare_pairs(std::vector<double>{-2}, std::vector<double>{-1}).relative_change_mean,
            0.5);
}

TEST(Paired, NoPairsAreNoFigures) {
  const PairedComparison compared = compare_pairs({}, {});
  EXPECT_EQ(compared.pairs, 0);
  EXPECT_EQ(compared.relative_change_mean, std::nullopt);
}

}  // namespace
}  // namespace inferscale
