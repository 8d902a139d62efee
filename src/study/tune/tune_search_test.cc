#include "study/tune/tune_search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace inferscale {
namespace {

using Values = std::vector<double>;

TuneScorer scorer_of(const std::function<std::optional<double>(const Values&)>& score) {
  return [score](const std::vector<Values>& batch) {
    std::vector<std::optional<double>> scores;
    for (const Values& values : batch) scores.push_back(score(values));
    return Result<std::vector<std::optional<double>>>(scores);
  };
}

TuneSearch search(const std::vector<TuneDimension>& dimensions, std::int64_t most,
                  const std::function<std::optional<double>(const Values&)>& score) {
  Result<TuneSearch> found = search_parameters(dimensions, most, scorer_of(score));
  CHECK(found.has_value());
  return std::move(*found);
}

TuneDimension whole(double min, double max) {
  return {.range = {"limit", min, max, true}, .whole = true};
}

TEST(TuneSearch, FindsTheOneBestWholeNumberOfAHill) {
  for (const double peak : {1.0, 7.0, 23.0, 150.0, 256.0}) {
    const TuneSearch found = search({whole(1, 256)}, 30, [&](const Values& values) {
      return -std::fabs(std::log(values[0] / peak));
    });
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.trials[*found.best].values[0], peak);
  }
}

TEST(TuneSearch, ComesCloseToTheTopInTwoDimensions) {
  const std::vector<TuneDimension> space = {{.range = {"a", 0, 1, false}},
                                            {.range = {"b", 10, 1000, true}}};
  const TuneSearch found = search(space, 60, [](const Values& values) {
    const double a = values[0] - 0.37;
    const double b = std::log10(values[1]) - 2.2;
    return -(a * a + b * b + 0.5 * a * b);
  });
  ASSERT_TRUE(found.best);
  EXPECT_NEAR(found.trials[*found.best].values[0], 0.37, 0.03);
  EXPECT_NEAR(std::log10(found.trials[*found.best].values[1]), 2.2, 0.05);
}

TEST(TuneSearch, TriesEachValueOnceAndNoMoreThanItMay) {
  for (const std::int64_t most : {3, 4, 9, 24, 100}) {
    const TuneSearch found =
        search({whole(1, 20)}, most, [](const Values& values) { return values[0] / 100; });
    EXPECT_LE(std::ssize(found.trials), most);
    EXPECT_EQ(found.trials[*found.best].values[0], 20);
    for (std::size_t i = 0; i < found.trials.size(); ++i) {
      EXPECT_EQ(found.trials[i].values[0], std::round(found.trials[i].values[0]));
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_NE(found.trials[i].values, found.trials[j].values);
      }
    }
  }
}

TEST(TuneSearch, OnAPlainItEndsAndTakesTheFirst) {
  const TuneSearch found = search({whole(1, 8)}, 100, [](const Values&) { return 0.5; });
  EXPECT_EQ(*found.best, 0U);
  EXPECT_LE(std::ssize(found.trials), 8);
}

TEST(TuneSearch, PassesOverWhatCannotBeTried) {
  const TuneSearch found =
      search({whole(1, 256)}, 30, [](const Values& values) -> std::optional<double> {
        if (values[0] > 40) return std::nullopt;
        return values[0];
      });
  ASSERT_TRUE(found.best);
  EXPECT_GE(found.trials[*found.best].values[0], 30);
  const TuneSearch none = search(
      {whole(1, 256)}, 30, [](const Values&) -> std::optional<double> { return std::nullopt; });
  EXPECT_FALSE(none.best);
}

TEST(TuneSearch, HandsOnWhatStopsIt) {
  const Result<TuneSearch> found = search_parameters(
      std::vector{whole(1, 9)}, 9,
      [](const std::vector<Values>&) -> Result<std::vector<std::optional<double>>> {
        return fail(ErrorCode::kInterrupted, "stopped");
      });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace inferscale
