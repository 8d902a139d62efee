// The ratio of requested answers that sglang sets room aside for, by hand from its defaults: 0.7 at
// first, 0.14 of that after 600 decode steps, and what the survivors have used after a retraction.

#include "replica/expected_room.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(ExpectedRoomTest, TheRatioFallsWithEachDecodeStepToItsLowest) {
  const ExpectedRoom room;
  EXPECT_DOUBLE_EQ(room.ratio(0), 0.7);
  EXPECT_NEAR(room.ratio(1), 0.7 - 0.602 / 600, 1e-12);
  EXPECT_NEAR(room.ratio(300), 0.399, 1e-12);
  EXPECT_NEAR(room.ratio(600), 0.098, 1e-12);
  EXPECT_NEAR(room.ratio(601), 0.098, 1e-12);
  EXPECT_NEAR(room.ratio(1'000'000), 0.098, 1e-12);
}

TEST(ExpectedRoomTest, ARetractionSetsItToWhatTheSurvivorsHaveUsed) {
  ExpectedRoom room;
  room.retracted(100, 400, 2, 50);  // (100 + 2 x 20) / (400 + 1)
  EXPECT_NEAR(room.ratio(50), 140.0 / 401.0, 1e-12);
  EXPECT_NEAR(room.ratio(60), 140.0 / 401.0 - 10 * 0.602 / 600, 1e-12);
  room.retracted(33, 36, 1, 70);  // 53 of 37
  EXPECT_DOUBLE_EQ(room.ratio(70), 1.0);
  EXPECT_NEAR(room.ratio(71), 1.0 - 0.602 / 600, 1e-12);
}

TEST(ExpectedRoomTest, ItBeginsAnewWhenNobodyRuns) {
  ExpectedRoom room;
  room.retracted(10, 400, 1, 900);
  room.begin_anew(1000);
  EXPECT_DOUBLE_EQ(room.ratio(1000), 0.7);
  EXPECT_NEAR(room.ratio(1300), 0.399, 1e-12);
}

}  // namespace
}  // namespace inferscale
