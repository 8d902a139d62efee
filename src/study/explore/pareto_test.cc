// Frontiers against every pair of points looked at.

#include "study/explore/pareto.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace inferscale {
namespace {

// The definition, word by word.
std::vector<bool> by_all_pairs(std::span<const ParetoPoint> points) {
  std::vector<bool> on;
  for (const ParetoPoint& point : points) {
    bool dominated = false;
    for (const ParetoPoint& other : points) {
      const bool as_good = other.gain >= point.gain && other.loss <= point.loss;
      const bool better = other.gain > point.gain || other.loss < point.loss;
      dominated |= as_good && better;
    }
    on.push_back(!dominated);
  }
  return on;
}

TEST(Pareto, IsWhatAllPairsSay) {
  RandomStream random(1, "points");
  std::size_t on_frontier = 0;
  for (int round = 0; round < 2000; ++round) {
    // Few values make ties and equal points the rule, many make them the exception.
    const std::uint64_t values = round % 3 == 0 ? 4 : round % 3 == 1 ? 25 : 1'000'000;
    std::vector<ParetoPoint> points(random.below(40));
    for (ParetoPoint& point : points) {
      point.gain = static_cast<double>(random.below(values)) - 2;
      point.loss = static_cast<double>(random.below(values)) - 2;
      if (random.below(20) == 0) point.loss = std::numeric_limits<double>::infinity();
      if (random.below(20) == 0) point.gain = -std::numeric_limits<double>::infinity();
      if (random.below(20) == 0) point.gain = -0.0;
    }
    const std::vector<bool> on = pareto_frontier(points);
    ASSERT_EQ(on, by_all_pairs(points)) << "round " << round;
    on_frontier += static_cast<std::size_t>(std::count(on.begin(), on.end(), true));
  }
  EXPECT_GT(on_frontier, 2000u);  // the rounds were about something
}

TEST(Pareto, EqualPointsStandTogether) {
  EXPECT_EQ(pareto_frontier(std::vector<ParetoPoint>{{1, 1}, {1, 1}, {1, 2}, {0, 1}}),
            (std::vector<bool>{true, true, false, false}));
  EXPECT_TRUE(pareto_frontier({}).empty());
}

TEST(Pareto, ManyPointsTakeNoTime) {
  RandomStream random(1, "many");
  std::vector<ParetoPoint> points(300'000);
  for (ParetoPoint& point : points) point = {random.uniform(), random.uniform()};
  const std::vector<bool> on = pareto_frontier(points);
  // Of n independent points about ln n are on the frontier: 12.6 here.
  const auto count = std::count(on.begin(), on.end(), true);
  EXPECT_GT(count, 3);
  EXPECT_LT(count, 40);
}

}  // namespace
}  // namespace inferscale
