#include "report/time_plots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/sample_run.h"

namespace inferscale {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double total(const std::vector<double>& rates, double width_s) {
  double sum = 0;
  for (const double rate : rates) sum += rate * width_s;
  return sum;
}

SignalSample sample(double t_s, std::uint32_t replica, std::int64_t queue_depth, double kv) {
  return {.at = Instant() + Duration::from_seconds(t_s),
          .replica = replica,
          .queue_depth = queue_depth,
          .running = 2 * queue_depth,
          .kv_used_fraction = kv};
}

TEST(RateSeries, WhoWasDeferredForGoodIsALineOfItsOwn) {
  std::vector<Outcome> outcomes(3);
  outcomes[1].arrival = Instant() + Duration::from_seconds(1);
  outcomes[1].status = OutcomeStatus::kDeferred;
  outcomes[2].arrival = Instant() + Duration::from_seconds(4);
  outcomes[2].status = OutcomeStatus::kRefused;
  const RateSeries series = rate_series(outcomes, 2);
  EXPECT_EQ(series.deferred, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(series.refused, (std::vector<double>{0, 0.5}));
}

TEST(RateSeries, CountsEveryEventOnceAndEndsWithTheRun) {
  const SampleRun run({.requests = 3000, .slots = 10, .refusals = true});
  const RateSeries series = rate_series(run.outcomes(), 60);
  const auto refused = std::count_if(run.outcomes().begin(), run.outcomes().end(),
                                     [](auto& o) { return o.status == OutcomeStatus::kRefused; });
  ASSERT_GT(refused, 0);
  EXPECT_NEAR(total(series.arrived, series.width_s), 3000, 1e-6);
  EXPECT_NEAR(total(series.refused, series.width_s), static_cast<double>(refused), 1e-6);
  EXPECT_NEAR(total(series.finished, series.width_s), static_cast<double>(3000 - refused), 1e-6);
  EXPECT_GT(series.finished.back(), 0);  // the last event is the last bin's
}

TEST(RateSeries, ARunWithoutTimeHasNoBins) {
  EXPECT_TRUE(rate_series({}, 10).arrived.empty());
  const std::vector<Outcome> at_zero(1);
  EXPECT_TRUE(rate_series(at_zero, 10).arrived.empty());
}

TEST(TtftOverTime, IsTheNearestRankOfEachBin) {
  std::vector<Outcome> outcomes(40);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].arrival = Instant() + Duration::from_seconds(static_cast<double>(i));
    outcomes[i].first_token =
        outcomes[i].arrival + Duration::from_millis(static_cast<double>((i * 7) % 20 + 1));
  }
  outcomes[39].first_token = Instant::never();  // this one counts nowhere
  const auto bins = ttft_over_time(outcomes, 2, 20);
  ASSERT_EQ(bins.size(), 1U);  // 20 arrivals, and 19 that had a first token
  EXPECT_EQ(bins[0].p50_ms, 10);
  EXPECT_EQ(bins[0].p95_ms, 19);
  EXPECT_EQ(bins[0].t_s, 39.0 / 4);
  EXPECT_EQ(ttft_over_time(outcomes, 2, 19).size(), 2U);
  EXPECT_TRUE(ttft_over_time({}, 2, 1).empty());
}

TEST(Timeline, FewSamplesAreShownAsTheyAre) {
  const std::vector<SignalSample> signals = {sample(1, 0, 3, 0.25), sample(2, 0, 5, 0.5)};
  const Timeline line = timeline(signals, 100);
  EXPECT_EQ(line.instants_per_point, 1U);
  EXPECT_EQ(line.replicas, 1U);
  ASSERT_EQ(line.points.size(), 2U);
  EXPECT_EQ(line.points[1].t_s, 2);
  EXPECT_EQ(line.points[1].queue_depth.mean, 5);
  EXPECT_EQ(line.points[1].running.max, 10);
  EXPECT_EQ(line.points[1].kv_used_fraction.min, 0.5);
  EXPECT_TRUE(timeline({}, 100).points.empty());
}

TEST(Timeline, ReplicasAreAddedAndTheirKvUseCompared) {
  const std::vector<SignalSample> signals = {sample(1, 0, 3, 0.25), sample(1, 1, 4, 0.75),
                                             sample(1, 2, 0, kNaN)};
  const Timeline line = timeline(signals, 100);
  EXPECT_EQ(line.replicas, 3U);
  EXPECT_EQ(line.instants, 1U);
  ASSERT_EQ(line.points.size(), 1U);
  EXPECT_EQ(line.points[0].queue_depth.min, 7);
  EXPECT_EQ(line.points[0].queue_depth.max, 7);
  EXPECT_EQ(line.points[0].kv_used_fraction.min, 0.25);
  EXPECT_EQ(line.points[0].kv_used_fraction.mean, 0.5);
  EXPECT_EQ(line.points[0].kv_used_fraction.max, 0.75);
}

TEST(Timeline, ThinningKeepsTheExtremesAndTheMean) {
  std::vector<SignalSample> signals;
  for (int i = 0; i < 1001; ++i) signals.push_back(sample(i, 0, i == 500 ? 9999 : i % 7, 0.1));
  const Timeline line = timeline(signals, 100);
  EXPECT_LE(line.points.size(), 100U);
  EXPECT_EQ(line.instants_per_point, 11U);
  double highest = 0;
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const double count = i + 1 == line.points.size() ? 1001 - 11 * 90.0 - 0.0 : 11;
    highest = std::max(highest, line.points[i].queue_depth.max);
    sum += line.points[i].queue_depth.mean * count;
    weight += count;
  }
  double expected = 0;
  for (const SignalSample& one : signals) expected += static_cast<double>(one.queue_depth);
  EXPECT_EQ(highest, 9999);
  EXPECT_EQ(weight, 1001);
  EXPECT_NEAR(sum, expected, 1e-6);
}

TEST(Timeline, WithoutKvBlocksThereIsNoUse) {
  const std::vector<SignalSample> signals = {sample(1, 0, 3, kNaN)};
  const Timeline line = timeline(signals, 100);
  EXPECT_TRUE(std::isnan(line.points[0].kv_used_fraction.mean));
  EXPECT_TRUE(std::isnan(line.points[0].kv_used_fraction.max));
}

TEST(TtftScatter, DrawsAllWhenTheyAreFew) {
  const SampleRun run({.requests = 1000, .slots = 10, .refusals = true});
  const Scatter scatter = ttft_scatter(run.outcomes(), 1000);
  EXPECT_EQ(scatter.group, 1U);
  EXPECT_EQ(scatter.indices.size(), scatter.candidates);
  EXPECT_LT(scatter.candidates, 1000U);  // refused requests have no TTFT
  for (const std::size_t i : scatter.indices) EXPECT_TRUE(run.outcomes()[i].finished());
}

TEST(TtftScatter, ThinningKeepsTheExtremesOfEveryGroup) {
  const SampleRun run({.requests = 5003, .slots = 24});
  const auto& outcomes = run.outcomes();
  const Scatter scatter = ttft_scatter(outcomes, 400);
  EXPECT_EQ(scatter.candidates, 5003U);
  EXPECT_EQ(scatter.group, 51U);
  EXPECT_LE(scatter.indices.size(), 400U);
  EXPECT_GT(scatter.indices.size(), 300U);
  EXPECT_TRUE(std::is_sorted(scatter.indices.begin(), scatter.indices.end()));
  const auto drawn = [&](std::size_t i) {
    return std::binary_search(scatter.indices.begin(), scatter.indices.end(), i);
  };
  const auto faster = [](const Outcome& a, const Outcome& b) { return a.ttft() < b.ttft(); };
  for (std::size_t begin = 0; begin < 5003; begin += 51) {
    const auto first = outcomes.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        outcomes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(5003, begin + 51));
    const auto extremes = std::minmax_element(first, last, faster);
    EXPECT_TRUE(drawn(static_cast<std::size_t>(extremes.first - outcomes.begin())));
    EXPECT_TRUE(drawn(static_cast<std::size_t>(extremes.second - outcomes.begin())));
  }
}

}  // namespace
}  // namespace inferscale
