// The nearest-rank percentile against its definition.

#include "metrics/quantiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "metrics/single_server_test_support.h"

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

void expect_agreement_with_sorting(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  VectorStream stream(values);
  const PopulationSummary summary = summarize(stream);
  EXPECT_EQ(summary.count, static_cast<std::int64_t>(values.size()));
  EXPECT_EQ(summary.mean, sum / static_cast<double>(values.size()));
  EXPECT_EQ(summary.p50, nearest_rank(sorted, 0.50));
  EXPECT_EQ(summary.p90, nearest_rank(sorted, 0.90));
  EXPECT_EQ(summary.p95, nearest_rank(sorted, 0.95));
  EXPECT_EQ(summary.p99, nearest_rank(sorted, 0.99));
  EXPECT_EQ(summary.max, sorted.back());
}

TEST(Quantiles, SummaryAgreesWithSorting) {
  RandomStream random(1, "quantiles");
  for (const size_t n : {1U, 2U, 3U, 10U, 101U, 5000U, 200'000U}) {
    std::vector<double> values(n);
    for (double& value : values) value = 1e6 * random.uniform() * random.uniform();
    expect_agreement_with_sorting(values);
  }
}

TEST(Quantiles, ManyEqualAndNearlyEqualValuesAreToldApart) {
  RandomStream random(2, "quantiles");
  for (const size_t n : {5000U, 150'000U}) {
    std::vector<double> equal(n, 0.0);
    expect_agreement_with_sorting(equal);
    std::vector<double> near(n);
    // Values that differ in their last bits only, and zeros among them.
    for (double& value : near) {
      value = random.below(5) == 0 ? 0.0 : 12.5 + 0x1p-48 * static_cast<double>(random.below(300));
    }
    expect_agreement_with_sorting(near);
  }
}

TEST(Quantiles, NothingHasNoFigures) {
  VectorStream nothing({});
  EXPECT_EQ(summarize(nothing).count, 0);
}

}  // namespace
}  // namespace inferscale
