// Quantiles within the stated error of the exact ones; runs equal to their single values.

#include "core/duration_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

TEST(DurationHistogram, QuantilesAreWithinTheStatedErrorOfTheExactOnes) {
  RandomStream random(2, "histogram");
  DurationHistogram histogram;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 100'000; ++i) {
    // Six decades, evenly in the logarithm by repeated halving.
    auto value = static_cast<std::int64_t>(1e9 * random.uniform());
    value >>= random.below(20);
    values.push_back(value);
    histogram.add(Duration::nanos(value), 1);
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.001, 0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<size_t>(q * static_cast<double>(values.size()) + 0.999999);
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q).ns()), exact,
                exact * DurationHistogram::kRelativeError + 1)
        << q;
  }
  EXPECT_EQ(histogram.max().ns(), values.back());
}

TEST(DurationHistogram, ARunIsTheSameAsItsValues) {
  RandomStream random(3, "histogram");
  for (int trial = 0; trial < 500; ++trial) {
    DurationHistogram by_run;
    DurationHistogram one_by_one;
    const double first = 1e6 * random.uniform();
    const double growth = random.below(3) == 0 ? 0.0 : 2000.0 * random.uniform();
    const auto steps = static_cast<std::int64_t>(1 + random.below(3000));
    by_run.add_run(first, growth, steps, 3);
    for (std::int64_t i = 0; i < steps; ++i) {
      const double value = first + growth * static_cast<double>(i);
      one_by_one.add(Duration::nanos(static_cast<std::int64_t>(value)), 3);
    }
    ASSERT_EQ(by_run.total(), one_by_one.total());
    ASSERT_EQ(by_run.max(), one_by_one.max());
    ASSERT_NEAR(by_run.mean_ns(), one_by_one.mean_ns(), 1.0);
    for (const double q : {0.01, 0.25, 0.5, 0.75, 0.99}) {
      ASSERT_EQ(by_run.quantile(q), one_by_one.quantile(q)) << "trial " << trial << " q " << q;
    }
  }
}

TEST(DurationHistogram, SmallValuesAreExact) {
  DurationHistogram histogram;
  for (std::int64_t i = 0; i < 128; ++i) histogram.add(Duration::nanos(i), 1);
  EXPECT_EQ(histogram.quantile(0.5).ns(), 63);
  EXPECT_EQ(histogram.quantile(1.0).ns(), 127);
}

}  // namespace
}  // namespace inferscale
