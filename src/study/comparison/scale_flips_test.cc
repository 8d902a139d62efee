// Where conclusions change, against functions whose crossings are known.

#include "study/comparison/scale_flips.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/check.h"

namespace inferscale {
namespace {

// TTFT p95 of the treatment less that of the baseline as a function of the scale; the rest is tied.
using Lead = std::function<std::optional<double>(double scale)>;

ScaledPoint point_at(ModelScale scale, double value, const Lead& lead) {
  ScaledPoint point{.scales = only_scale(scale, value)};
  const std::optional<double> behind = lead(value);
  for (const std::size_t side : {kBaseline, kTreatment}) point.means[side] = {100.0, 1.0, 1000.0};
  if (behind) {
    *point.means[kTreatment][0] += *behind;
  } else {
    point.means[kTreatment][0].reset();
  }
  return point;
}

class LeadRunner final : public PointRunner {
 public:
  explicit LeadRunner(Lead lead) : lead_(std::move(lead)) {}
  Result<std::vector<ScaledPoint>> run(std::span<const ModelScales> scales) override {
    ++rounds;
    std::vector<ScaledPoint> points;
    for (const ModelScales& at : scales) {
      points.push_back(point_at(ModelScale::kDecode, at.decode, lead_));
    }
    return points;
  }
  int rounds = 0;

 private:
  Lead lead_;
};

std::vector<ScaleFlip> flips_of(const Lead& lead, int* rounds = nullptr) {
  ScaleScan scan{.scale = ModelScale::kDecode};
  for (const double value : {0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2}) {
    scan.points.push_back(point_at(ModelScale::kDecode, value, lead));
  }
  LeadRunner runner(lead);
  const Result<std::vector<ScaleFlip>> flips = find_flips(std::vector{scan}, runner);
  CHECK(flips.has_value());
  if (rounds != nullptr) *rounds = runner.rounds;
  return *flips;
}

TEST(ScaleFlips, FindsACrossingToWithinItsRatio) {
  const std::vector<ScaleFlip> flips = flips_of([](double scale) { return scale - 1.137; });
  ASSERT_EQ(flips.size(), 1u);
  EXPECT_EQ(flips[0].metric, 0u);
  EXPECT_EQ(flips[0].from, Winner::kTreatmentWins);
  EXPECT_EQ(flips[0].to, Winner::kBaselineWins);
  EXPECT_LE(flips[0].holds_at, 1.137);
  EXPECT_GE(flips[0].flips_at, 1.137);
  EXPECT_LE(flips[0].flips_at / flips[0].holds_at, kFlipRatio);
}

TEST(ScaleFlips, BothDirectionsAreSearchedInTheSameRounds) {
  int rounds = 0;
  const auto flips =
      flips_of([](double scale) { return (scale - 0.87) * (scale - 1.13); }, &rounds);
  ASSERT_EQ(flips.size(), 2u);
  EXPECT_NEAR(flips[0].flips_at, 0.87, 0.87 * (kFlipRatio - 1));
  EXPECT_LE(flips[0].flips_at, flips[0].holds_at);
  EXPECT_NEAR(flips[1].flips_at, 1.13, 1.13 * (kFlipRatio - 1));
  EXPECT_LE(rounds, 5);
}

TEST(ScaleFlips, OfSeveralCrossingsTheNearestCounts) {
  const auto flips =
      flips_of([](double scale) { return scale > 1.07 && scale < 1.17 ? 1.0 : -1.0; });
  ASSERT_EQ(flips.size(), 1u);
  EXPECT_NEAR(flips[0].flips_at, 1.07, 1.07 * (kFlipRatio - 1));
}

TEST(ScaleFlips, WhereATieBeginsOrEndsIsAChangeToo) {
  const auto begins = flips_of([](double scale) { return scale > 1.12 ? 0.0 : -1.0; });
  ASSERT_EQ(begins.size(), 1u);
  EXPECT_EQ(begins[0].to, Winner::kTie);
  const auto ends = flips_of([](double scale) { return scale > 1.12 ? 1.0 : 0.0; });
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].from, Winner::kTie);
  EXPECT_EQ(ends[0].to, Winner::kBaselineWins);
}

TEST(ScaleFlips, PointsThatAreUnknownAreNoChange) {
  const auto lead = [](double scale) -> std::optional<double> {
    if (scale > 1.02 && scale < 1.08) return std::nullopt;
    return scale - 1.13;
  };
  const auto flips = flips_of(lead);
  ASSERT_EQ(flips.size(), 1u);
  EXPECT_NEAR(flips[0].flips_at, 1.13, 1.13 * (kFlipRatio - 1));
  EXPECT_TRUE(flips_of([](double) { return std::nullopt; }).empty());
}

TEST(ScaleFlips, NothingChangesWhereOneIsAlwaysAhead) {
  int rounds = 1;
  EXPECT_TRUE(flips_of([](double) { return -1.0; }, &rounds).empty());
  EXPECT_EQ(rounds, 0);
}

}  // namespace
}  // namespace inferscale
