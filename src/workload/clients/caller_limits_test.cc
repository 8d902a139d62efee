// Limits of calls in flight, step by step.

#include "workload/clients/caller_limits.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

constexpr std::size_t kCaller = 3;

TEST(CallerLimits, ThereIsNoneAtFirst) {
  CallerLimits limits;
  for (int i = 0; i < 1000; ++i) limits.presented(kCaller);
  EXPECT_FALSE(limits.is_full(kCaller));
  EXPECT_FALSE(limits.is_full(kCaller + 100)) << "never heard of";
}

TEST(CallerLimits, HalveOnceForEachBurst) {
  CallerLimits limits;
  for (int i = 0; i < 9; ++i) limits.presented(kCaller);
  limits.refused_by_429(kCaller, Instant::nanos(10), Instant::nanos(20));
  limits.ended(kCaller);
  EXPECT_TRUE(limits.is_full(kCaller)) << "8 in flight, at most 4";
  // Presented at or before the halving: of the same burst.
  limits.refused_by_429(kCaller, Instant::nanos(10), Instant::nanos(21));
  limits.refused_by_429(kCaller, Instant::nanos(20), Instant::nanos(21));
  for (int i = 0; i < 4; ++i) limits.ended(kCaller);
  EXPECT_TRUE(limits.is_full(kCaller)) << "4 in flight";
  limits.ended(kCaller);
  EXPECT_EQ(limits.room(kCaller), 1U);
  limits.answered(kCaller);
  EXPECT_EQ(limits.room(kCaller), 2U);
  limits.refused_by_429(kCaller, Instant::nanos(21), Instant::nanos(30));
  limits.ended(kCaller);
  EXPECT_TRUE(limits.is_full(kCaller)) << "2 in flight, at most half of the 3 before";
  limits.ended(kCaller);
  limits.ended(kCaller);
  EXPECT_EQ(limits.room(kCaller), 1U) << "one is always allowed";
}

TEST(CallerLimits, LetTheEarliestGoFirst) {
  CallerLimits limits;
  limits.presented(kCaller);
  limits.refused_by_429(kCaller, Instant::nanos(1), Instant::nanos(2));
  limits.wait(kCaller, {Instant::nanos(9), 4});
  limits.wait(kCaller, {Instant::nanos(5), 8});
  limits.wait(kCaller, {Instant::nanos(5), 7});
  limits.stop_waiting(kCaller, {Instant::nanos(5), 8});
  EXPECT_EQ(limits.take_waiting(kCaller)->second, 7U);
  EXPECT_EQ(limits.clear(kCaller).size(), 1U);
  EXPECT_FALSE(limits.take_waiting(kCaller));
}

}  // namespace
}  // namespace inferscale
