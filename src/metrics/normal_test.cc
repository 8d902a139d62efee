// The normal tail against the C library's erfc and printed values.

#include "metrics/normal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace inferscale {
namespace {

TEST(Normal, TailIsThatOfErfc) {
  for (double z = 0; z < 12; z += 0.0625) {
    const double expected = 0.5 * std::erfc(z / std::sqrt(2));
    EXPECT_NEAR(normal_above(z) / expected, 1, 1e-10) << z;
  }
}

TEST(Normal, TailIsThatOfTheTable) {
  // Abramowitz and Stegun, table 26.1 and 26.2.
  EXPECT_NEAR(normal_above(1.96), 0.0249979, 5e-8);
  EXPECT_NEAR(normal_above(3), 0.00134990, 5e-9);
  EXPECT_EQ(normal_above(0), 0.5);
}

}  // namespace
}  // namespace inferscale
