// The nearest-rank percentile against its definition.

#include "metrics/quantiles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace inferscale {
namespace {

TEST(Quantiles, RankIsTheLeastThatCoversTheShare) {
  // By definition: the least rank r with r / n >= q, in integers where q is a percentage.
  for (std::int64_t n = 1; n <= 2000; ++n) {
    for (const int percent : {1, 5, 50, 90, 95, 99, 100}) {
      std::int64_t rank = 1;
      while (100 * rank < percent * n) ++rank;
      ASSERT_EQ(nearest_rank_of(percent / 100.0, n), rank) << percent << " of " << n;
    }
  }
}

TEST(Quantiles, SummaryAgreesWithSorting) {
  RandomStream random(1, "quantiles");
  for (const size_t n : {1U, 2U, 3U, 10U, 101U, 5000U}) {
    std::vector<double> values(n);
    double sum = 0;
    for (double& value : values) {
      value = static_cast<double>(random.below(500));
      sum += value;
    }
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const PopulationSummary summary = summarize(values);
    EXPECT_EQ(summary.count, static_cast<std::int64_t>(n));
    EXPECT_EQ(summary.mean, sum / static_cast<double>(n));
    EXPECT_EQ(summary.p50, nearest_rank(sorted, 0.50));
    EXPECT_EQ(summary.p90, nearest_rank(sorted, 0.90));
    EXPECT_EQ(summary.p95, nearest_rank(sorted, 0.95));
    EXPECT_EQ(summary.p99, nearest_rank(sorted, 0.99));
    EXPECT_EQ(summary.max, sorted.back());
  }
}

TEST(Quantiles, NothingHasNoFigures) {
  std::vector<double> values;
  EXPECT_EQ(summarize(values).count, 0);
}

}  // namespace
}  // namespace inferscale
