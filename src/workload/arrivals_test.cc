// Arrival processes against the exact distribution of their gaps, or of their time-changed gaps.

#include "workload/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/distributions_test_support.h"

namespace inferscale {
namespace {

constexpr int kArrivals = 100'000;

std::vector<std::int64_t> instants(const ArrivalOptions& options, int count,
                                   std::uint64_t seed = 42) {
  const auto process = make_arrivals(options, RandomStream(seed, "arrivals"));
  std::vector<std::int64_t> result;
  for (int i = 0; i < count; ++i) result.push_back(process->next().ns());
  return result;
}

std::vector<double> gaps_s(const std::vector<std::int64_t>& arrivals) {
  std::vector<double> gaps;
  std::int64_t last = 0;
  for (std::int64_t arrival : arrivals) {
    gaps.push_back(static_cast<double>(arrival - last) * 1e-9);
    last = arrival;
  }
  return gaps;
}

double exponential_cdf(double x) {
  return 1 - std::exp(-x);
}

Duration seconds(double s) {
  return Duration::from_seconds(s);
}

// The integral of a schedule's rate from 0 to `t`, by walking along it: nothing is shared with the
// process under test.
double expected_arrivals(const PiecewiseArrivals& options, double t) {
  double sum = 0;
  double start = 0;
  for (std::size_t i = 0;; ++i) {
    const bool last = !options.repeat && i + 1 >= options.schedule.size();
    const RatePiece& piece =
        last ? options.schedule.back() : options.schedule[i % options.schedule.size()];
    const double end = start + piece.duration.seconds();
    if (last || t <= end) return sum + (t - start) * piece.rate_rps;
    sum += piece.duration.seconds() * piece.rate_rps;
    start = end;
  }
}

// Time-changed arrivals of a Poisson process of varying rate are a Poisson process of rate 1.
void expect_unit_poisson_after_time_change(const PiecewiseArrivals& options, int count) {
  std::vector<double> gaps;
  double last = 0;
  for (std::int64_t arrival : instants(options, count)) {
    const double changed = expected_arrivals(options, static_cast<double>(arrival) * 1e-9);
    gaps.push_back(changed - last);
    last = changed;
  }
  EXPECT_LT(kolmogorov_smirnov(gaps, exponential_cdf), kKolmogorovSmirnovLimit);
  EXPECT_NEAR(moments_of(gaps).mean, 1, 5 / std::sqrt(count));
}

TEST(PoissonArrivals, GapsAreExponential) {
  const auto gaps = gaps_s(instants(PoissonArrivals{.rate_rps = 4}, kArrivals));
  EXPECT_LT(kolmogorov_smirnov(gaps, [](double x) { return exponential_cdf(4 * x); }),
            kKolmogorovSmirnovLimit);
}

TEST(PoissonArrivals, GapsAreIndependent) {
  const auto gaps = gaps_s(instants(PoissonArrivals{.rate_rps = 1}, kArrivals));
  double product = 0;
  for (std::size_t i = 1; i < gaps.size(); ++i) product += (gaps[i] - 1) * (gaps[i - 1] - 1);
  EXPECT_NEAR(product / kArrivals, 0, 5 / std::sqrt(kArrivals));
}

TEST(ConstantArrivals, AreTheMultiplesOfOneOverTheRateToTheNearestNanosecond) {
  for (int rate : {1, 3, 7, 10, 999'983}) {
    const auto arrivals = instants(ConstantArrivals{.rate_rps = static_cast<double>(rate)}, 10'000);
    for (std::int64_t i = 1; i <= 10'000; ++i) {
      const std::int64_t nearest = (2 * i * 1'000'000'000 + rate) / (2 * rate);
      ASSERT_EQ(arrivals[static_cast<std::size_t>(i - 1)], nearest) << rate << ", arrival " << i;
    }
  }
}

TEST(ConstantArrivals, DoNotDriftOverMillions) {
  const auto process = make_arrivals(ConstantArrivals{.rate_rps = 3}, RandomStream(1, "arrivals"));
  Instant last;
  for (int i = 0; i < 3'000'000; ++i) last = process->next();
  EXPECT_EQ(last.ns(), 1'000'000'000'000'000);
}

TEST(GammaArrivals, GapsFollowTheGammaDistribution) {
  // cv^2 = 2 is shape 1/2, whose distribution function is erf(sqrt(x / scale)), scale = 2 / rate.
  const auto bursty =
      gaps_s(instants(GammaArrivals{.rate_rps = 10, .cv = std::sqrt(2)}, kArrivals));
  EXPECT_LT(kolmogorov_smirnov(bursty, [](double x) { return std::erf(std::sqrt(x / 0.2)); }),
            kKolmogorovSmirnovLimit);
  // cv^2 = 1/3 is shape 3, scale = 1 / (3 rate).
  const auto even =
      gaps_s(instants(GammaArrivals{.rate_rps = 10, .cv = std::sqrt(1.0 / 3)}, kArrivals));
  EXPECT_LT(kolmogorov_smirnov(even,
                               [](double x) {
                                 const double y = 30 * x;
                                 return 1 - std::exp(-y) * (1 + y + y * y / 2);
                               }),
            kKolmogorovSmirnovLimit);
}

TEST(GammaArrivals, KeepTheRateAtExtremeVariation) {
  for (double cv : {0.01, 4.0}) {
    const Moments found =
        moments_of(gaps_s(instants(GammaArrivals{.rate_rps = 10, .cv = cv}, kArrivals)));
    EXPECT_NEAR(found.mean, 0.1, 5 * 0.1 * cv / std::sqrt(kArrivals)) << cv;
    EXPECT_NEAR(found.deviation / found.mean / cv, 1, 0.1) << cv;
  }
}

TEST(PiecewiseArrivals, FollowTheScheduleExactly) {
  const PiecewiseArrivals steps{
      {{seconds(10), 50}, {seconds(5), 0}, {seconds(0.02), 2000}, {seconds(1), 0.5}, {{}, 20}},
      false};
  expect_unit_poisson_after_time_change(steps, kArrivals);
  PiecewiseArrivals cycle = steps;
  cycle.schedule.back().duration = seconds(3);
  cycle.repeat = true;
  expect_unit_poisson_after_time_change(cycle, 20'000);
}

TEST(PiecewiseArrivals, AreExactWhenPiecesAreMuchShorterThanGaps) {
  // A thousand cycles pass between two arrivals.
  const PiecewiseArrivals cycle{{{seconds(0.001), 1}, {seconds(0.003), 0}}, true};
  expect_unit_poisson_after_time_change(cycle, 100);
  for (std::int64_t arrival : instants(cycle, 1000)) {
    EXPECT_LE(arrival % 4'000'000, 1'000'000) << "an arrival in a piece without any";
  }
}

TEST(PiecewiseArrivals, NothingArrivesInAPieceOfRateZero) {
  const PiecewiseArrivals schedule{{{seconds(100), 0}, {seconds(1), 50}, {seconds(7), 0}, {{}, 3}},
                                   false};
  for (std::int64_t arrival : instants(schedule, 10'000)) {
    const double t = static_cast<double>(arrival) * 1e-9;
    EXPECT_TRUE((t >= 100 && t <= 101) || t >= 108) << t;
  }
}

TEST(PiecewiseArrivals, OnePieceIsPoisson) {
  const auto plain = instants(PoissonArrivals{.rate_rps = 8}, 1000);
  const auto piece = instants(PiecewiseArrivals{{{{}, 8}}, false}, 1000);
  EXPECT_EQ(plain, piece);
}

TEST(BurstyArrivals, AlternateBetweenTwoRatesWithTheMeanThatWasAskedFor) {
  const BurstyArrivals options{
      .rate_rps = 20, .burst_factor = 6, .burst_fraction = 0.25, .period = seconds(8)};
  // By hand: low = 20 / (0.75 + 0.25 * 6) = 80 / 9, high = 6 * 80 / 9.
  const PiecewiseArrivals by_hand{{{seconds(6), 80.0 / 9}, {seconds(2), 480.0 / 9}}, true};
  expect_unit_poisson_after_time_change(by_hand, 1000);
  std::vector<double> gaps;
  double last = 0;
  double low = 0;
  double high = 0;
  for (std::int64_t arrival : instants(options, kArrivals)) {
    const double t = static_cast<double>(arrival) * 1e-9;
    (std::fmod(t, 8) < 6 ? low : high) += 1;
    const double changed = expected_arrivals(by_hand, t);
    gaps.push_back(changed - last);
    last = changed;
  }
  EXPECT_LT(kolmogorov_smirnov(gaps, exponential_cdf), kKolmogorovSmirnovLimit);
  // The lower part is three times as long and a sixth as busy.
  EXPECT_NEAR(low / high, 0.5, 5 * 0.5 * std::sqrt(1 / low + 1 / high));
}

TEST(Arrivals, NeverGoBackAndTakeTheSameDrawsAtEveryRate) {
  const std::vector<ArrivalOptions> all = {
      PoissonArrivals{1e6}, ConstantArrivals{1e6}, GammaArrivals{1e6, 10},
      BurstyArrivals{.rate_rps = 1e6, .period = Duration::nanos(1'000'000)},
      PiecewiseArrivals{{{Duration::nanos(3), 1e6}, {Duration::nanos(5), 0}}, true}};
  for (const ArrivalOptions& options : all) {
    std::int64_t last = 0;
    for (std::int64_t arrival : instants(options, 20'000)) {
      ASSERT_GE(arrival, last) << options.index();
      last = arrival;
    }
  }
  const auto slow = instants(PoissonArrivals{.rate_rps = 1}, 1000);
  const auto fast = instants(PoissonArrivals{.rate_rps = 1000}, 1000);
  for (std::size_t i = 0; i < slow.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(slow[i]) / 1000, static_cast<double>(fast[i]), 1.5);
  }
}

TEST(Arrivals, StopGrowingAtTheLatestInstant) {
  const auto process =
      make_arrivals(ConstantArrivals{.rate_rps = 1e-9}, RandomStream(1, "arrivals"));
  for (int i = 0; i < 20; ++i) EXPECT_LE(process->next(), kLatestArrival);
  EXPECT_EQ(process->next(), kLatestArrival);
}

TEST(Arrivals, LongRunRateAndExpectedSpanFollowTheSchedule) {
  const PiecewiseArrivals once{{{seconds(10), 4}, {seconds(5), 0}, {{}, 2}}, false};
  EXPECT_DOUBLE_EQ(long_run_rate_rps(once), 2);
  EXPECT_DOUBLE_EQ(expected_span_s(once, 20), 5);
  EXPECT_DOUBLE_EQ(expected_span_s(once, 60), 10 + 5 + 10);
  const PiecewiseArrivals cycle{{{seconds(10), 4}, {seconds(5), 0}}, true};
  EXPECT_DOUBLE_EQ(long_run_rate_rps(cycle), 40.0 / 15);
  EXPECT_DOUBLE_EQ(expected_span_s(cycle, 80), 30);
  EXPECT_DOUBLE_EQ(long_run_rate_rps(BurstyArrivals{.rate_rps = 12}), 12);
  EXPECT_DOUBLE_EQ(expected_span_s(GammaArrivals{.rate_rps = 12, .cv = 3}, 24), 2);
}

// The nanoseconds are the contract: a change here changes every result that was ever published.
TEST(Arrivals, GoldenInstants) {
  using Golden = std::vector<std::int64_t>;
  EXPECT_EQ(instants(PoissonArrivals{10}, 4), (Golden{156439691, 241480616, 572609485, 597774314}));
  EXPECT_EQ(instants(ConstantArrivals{10}, 4),
            (Golden{100'000'000, 200'000'000, 300'000'000, 400'000'000}));
  EXPECT_EQ(instants(GammaArrivals{10, 2}, 4), (Golden{18498661, 50172189, 75512082, 115628214}));
  EXPECT_EQ(instants(BurstyArrivals{.rate_rps = 10, .period = seconds(0.2)}, 4),
            (Golden{184318289, 274665110, 590139414, 599198753}));
  EXPECT_EQ(instants(PiecewiseArrivals{{{seconds(0.1), 3}, {{}, 30}}, false}, 4),
            (Golden{142146563, 170493538, 280869828, 289258104}));
}

TEST(ArrivalsDeathTest, RefusesASchedulePastWhichNothingWouldCome) {
  EXPECT_DEATH(
      make_arrivals(PiecewiseArrivals{{{seconds(1), 5}, {{}, 0}}, false}, RandomStream(1, "x")),
      "no arrival would ever come");
}

}  // namespace
}  // namespace inferscale
