// The closed forms of a segment against step-by-step counting, on fixed and random segments.

#include "replica/decode_segment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace inferscale {
namespace {

struct Counted {
  std::int64_t over = 0;
  Duration longest;
};

Counted count_gaps(const DecodeSegment& segment, Duration limit, std::int64_t from,
                   std::int64_t to) {
  Counted counted;
  for (std::int64_t step = from; step <= to; ++step) {
    const Duration gap = segment.time_after(step) - segment.time_after(step - 1);
    if (gap > limit) ++counted.over;
    counted.longest = std::max(counted.longest, gap);
  }
  return counted;
}

// Segments of every kind: no growth, growth far below and far above a nanosecond, zero cost.
StepCost random_cost(RandomStream& random) {
  StepCost cost;
  switch (random.below(4)) {
    case 0:
      cost.first_ns = static_cast<double>(random.below(50));
      break;
    case 1:
      cost.first_ns = 1000.0 * random.uniform();
      cost.growth_ns = 0.02 * random.uniform();
      break;
    case 2:
      cost.first_ns = 1e7 * random.uniform();
      cost.growth_ns = 5000.0 * random.uniform();
      break;
    default:
      cost.first_ns = 100.0 * random.uniform();
      cost.growth_ns = random.below(2) == 0 ? 0.0 : 2.0 * random.uniform();
  }
  return cost;
}

TEST(DecodeSegment, CountsGapsAsAStepByStepCountDoes) {
  RandomStream random(7, "segments");
  for (int trial = 0; trial < 4000; ++trial) {
    const StepCost cost = random_cost(random);
    const Instant start = Instant::nanos(static_cast<std::int64_t>(random.below(1'000'000'000)));
    const DecodeSegment segment(start, cost);
    const auto from = static_cast<std::int64_t>(1 + random.below(5));
    const auto to = from + static_cast<std::int64_t>(random.below(300));
    // A limit near the gaps, where rounding decides.
    const double near = segment.step_ns(from + (to - from) / 2) + 4.0 * random.uniform() - 2.0;
    const Duration limit =
        Duration::nanos(std::max<std::int64_t>(0, static_cast<std::int64_t>(near)));
    const Counted counted = count_gaps(segment, limit, from, to);
    ASSERT_EQ(segment.gaps_over(limit, from, to), counted.over)
        << "trial " << trial << ": first " << cost.first_ns << " growth " << cost.growth_ns;
    ASSERT_EQ(segment.longest_gap(from, to), counted.longest) << "trial " << trial;
  }
}

TEST(DecodeSegment, FindsTheStepThatASearchFinds) {
  RandomStream random(8, "segments");
  for (int trial = 0; trial < 4000; ++trial) {
    const DecodeSegment segment(Instant::nanos(1000), random_cost(random));
    const auto limit = static_cast<std::int64_t>(1 + random.below(200));
    const std::int64_t span = (segment.time_after(limit) - segment.start()).ns();
    const Instant at = segment.start() + Duration::nanos(static_cast<std::int64_t>(
                                             random.below(static_cast<std::uint64_t>(span) + 3)));
    std::int64_t expected = 1;
    while (expected < limit && segment.time_after(expected) < at) ++expected;
    ASSERT_EQ(segment.first_step_ending_at(at, limit), expected) << "trial " << trial;
  }
}

TEST(DecodeSegment, AgreesWithASumOfStepCosts) {
  const DecodeSegment segment(Instant::nanos(5), {.first_ns = 8'123'456.7, .growth_ns = 2345.678});
  long double sum = 0;
  for (std::int64_t step = 1; step <= 5000; ++step) {
    sum += 8'123'456.7L + 2345.678L * static_cast<long double>(step - 1);
    const std::int64_t took = (segment.time_after(step) - segment.start()).ns();
    ASSERT_NEAR(static_cast<double>(took), static_cast<double>(sum), 0.51) << step;
  }
}

TEST(DecodeSegment, SumOfOffsetsIsTheSum) {
  const DecodeSegment segment(Instant::nanos(0), {.first_ns = 100.5, .growth_ns = 3.25});
  double sum = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const double k = static_cast<double>(3 + 16 * i);
    sum += 100.5 * k + 3.25 * k * (k - 1) / 2;
  }
  EXPECT_NEAR(segment.sum_of_offsets(3, {16, 40}), sum, 1e-9 * sum);
}

}  // namespace
}  // namespace inferscale
