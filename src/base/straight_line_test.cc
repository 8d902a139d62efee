// Against sums over all points, by the textbook's formulas.

#include "base/straight_line.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

struct Point {
  double x;
  double y;
};

// Weighted least squares with all points at hand: the last one weighs 1, each earlier one less.
struct Textbook {
  Textbook(const std::vector<Point>& points, double keep) {
    double w = 1;
    double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (auto at = points.rbegin(); at != points.rend(); ++at, w *= keep) {
      sw += w;
      sx += w * at->x;
      sy += w * at->y;
      sxx += w * at->x * at->x;
      sxy += w * at->x * at->y;
    }
    slope = (sw * sxy - sx * sy) / (sw * sxx - sx * sx);
    intercept = (sy - slope * sx) / sw;
    through_origin = sxy / sxx;
    double unexplained = 0, deviations = 0;
    w = 1;
    for (auto at = points.rbegin(); at != points.rend(); ++at, w *= keep) {
      const double rest = at->y - intercept - slope * at->x;
      unexplained += w * rest * rest;
      deviations += w * (at->y - sy / sw) * (at->y - sy / sw);
    }
    r_squared = 1 - unexplained / deviations;
  }
  double slope, intercept, through_origin, r_squared;
};

TEST(StraightLine, IsThatOfTheTextbookWithAndWithoutForgetting) {
  for (const double keep : {1.0, 0.99, 0.5}) {
    RandomStream random(42, "points");
    std::vector<Point> points;
    StraightLine line(keep);
    for (int i = 0; i < 500; ++i) {
      const double x = 50 * random.uniform();
      points.push_back({.x = x, .y = 7 + 0.25 * x + random.uniform()});
      line.add(points.back().x, points.back().y);
    }
    const Textbook expected(points, keep);
    EXPECT_NEAR(line.slope(), expected.slope, 1e-9);
    EXPECT_NEAR(line.intercept(), expected.intercept, 1e-9);
    EXPECT_NEAR(line.slope_through_origin(), expected.through_origin, 1e-9);
    EXPECT_NEAR(line.r_squared(), expected.r_squared, 1e-9);
  }
}

TEST(StraightLine, KeepsItsDigitsFarFromTheOrigin) {
  StraightLine line;
  for (int i = 0; i < 1000; ++i) line.add(1e9 + i, 3e9 + 2 * i);
  EXPECT_NEAR(line.slope(), 2, 1e-12);
}

TEST(StraightLine, HasNoSlopeThroughOneX) {
  StraightLine line;
  line.add(3, 1);
  line.add(3, 2);
  EXPECT_FALSE(line.has_slope());
  line.add(4, 1.5);
  EXPECT_TRUE(line.has_slope());
}

}  // namespace
}  // namespace inferscale
