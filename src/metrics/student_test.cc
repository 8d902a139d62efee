// Student's t against a printed table.

#include "metrics/student.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace inferscale {
namespace {

TEST(Student, QuantilesAreThoseOfTheTable) {
  // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, upper critical values.
  const struct {
    int degrees;
    double t95;  // two-sided: probability 0.975 below
    double t99;  // 0.995
  } kTable[] = {{1, 12.706, 63.657}, {2, 4.303, 9.925},  {3, 3.182, 5.841},  {4, 2.776, 4.604},
                {5, 2.571, 4.032},   {9, 2.262, 3.250},  {10, 2.228, 3.169}, {19, 2.093, 2.861},
                {20, 2.086, 2.845},  {29, 2.045, 2.756}, {30, 2.042, 2.750}, {60, 2.000, 2.660},
                {99, 1.984, 2.626},  {100, 1.984, 2.626}};
  for (const auto& row : kTable) {
    EXPECT_NEAR(student_two_sided(0.95, row.degrees), row.t95, 5.1e-4) << row.degrees;
    EXPECT_NEAR(student_two_sided(0.99, row.degrees), row.t99, 5.1e-4) << row.degrees;
  }
}

TEST(Student, TwoDegreesHaveAClosedForm) {
  // P(|T| <= t) = t / sqrt(2 + t^2), so the quantile of p is sqrt(2) p / sqrt(1 - p^2).
  for (const double p : {0.1, 0.5, 0.9, 0.999}) {
    const double t = std::sqrt(2) * p / std::sqrt(1 - p * p);
    EXPECT_NEAR(student_two_sided(p, 2) / t, 1, 1e-12);
  }
}

TEST(Student, OneDegreeIsTheCauchyDistribution) {
  // P(|T| <= t) = (2 / pi) arctan t, so the quantile of p is tan(pi p / 2).
  for (const double p : {0.1, 0.5, 0.9, 0.999}) {
    EXPECT_NEAR(student_two_sided(p, 1) / std::tan(0.5 * std::numbers::pi * p), 1, 1e-12);
  }
}

TEST(Student, ThreeDegreesHaveAClosedForm) {
  for (const double t : {0.01, 1.0, 3.182, 40.0}) {
    const double u = t / std::sqrt(3);
    const double within = 2 / std::numbers::pi * (std::atan(u) + u / (1 + u * u));
    EXPECT_NEAR(student_within(t, 3) / within, 1, 1e-14) << t;
  }
}

TEST(Student, NoDegreesAreRefused) {
  EXPECT_DEATH(student_two_sided(0.95, 0), "degrees 0");
}

}  // namespace
}  // namespace inferscale
