#include "admission/queue_trend.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

// Ten seconds in five parts.
const TrendOptions kOptions;

TEST(QueueTrend, AQueueThatGrowsAllAlongRises) {
  QueueTrend trend(kOptions);
  for (int i = 0; i < 200; ++i) trend.observe(i / 5, at(0.1 * i));  // two more a second
  EXPECT_TRUE(trend.is_rising());
}

TEST(QueueTrend, ABurstDoesNot) {
  QueueTrend trend(kOptions);
  for (int i = 0; i < 200; ++i) trend.observe(i < 150 ? 2 : 80 - (i - 150), at(0.1 * i));
  EXPECT_FALSE(trend.is_rising());
}

TEST(QueueTrend, ALongQueueThatStaysDoesNot) {
  QueueTrend trend(kOptions);
  for (int i = 0; i < 200; ++i) trend.observe(100 + i % 2, at(0.1 * i));
  EXPECT_FALSE(trend.is_rising());
}

TEST(QueueTrend, ItTakesAWholeWindowToSay) {
  QueueTrend trend(kOptions);
  for (int i = 0; i < 90; ++i) trend.observe(i, at(0.1 * i));
  EXPECT_FALSE(trend.is_rising());
}

TEST(QueueTrend, ThoseToldToComeAgainAreAQueueOutside) {
  QueueTrend trend(kOptions);
  // The queue inside is bounded; each 0.1 s one more is told to wait for a minute.
  for (int i = 0; i < 200; ++i) {
    trend.observe(8, at(0.1 * i));
    trend.told_to_wait(at(0.1 * i + 60));
  }
  EXPECT_TRUE(trend.is_rising());
  EXPECT_EQ(trend.outside(), 200);
  trend.observe(8, at(100));
  EXPECT_EQ(trend.outside(), 0);
  EXPECT_FALSE(trend.is_rising());
}

TEST(QueueTrend, WithoutAWindowNothingRises) {
  QueueTrend trend({.window = Duration(), .rises = 5});
  for (int i = 0; i < 200; ++i) trend.observe(i, at(0.1 * i));
  EXPECT_FALSE(trend.is_rising());
}

}  // namespace
}  // namespace inferscale
