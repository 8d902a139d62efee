// Student's t against a printed table.

#include "metrics/student.h"

#include <gtest/gtest.h>

#include <cmath>

namespace inferscale {
namespace {

TEST(Student, QuantilesAreThoseOfTheTable) {
  // NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, upper critical values.
  const struct {
    int degrees;
    double t95;  // two-sided: probability 0.975 below
    double t99;  // 0.995
  } kTable[] = {{2, 4.303, 9.925},  {4, 2.776, 4.604},  {10, 2.228, 3.169}, {20, 2.086, 2.845},
                {30, 2.042, 2.750}, {60, 2.000, 2.660}, {100, 1.984, 2.626}};
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

TEST(Student, OddDegreesAreRefused) {
  EXPECT_DEATH(student_two_sided(0.95, 7), "degrees 7");
}

}  // namespace
}  // namespace inferscale
