// The heap against a plain look at everybody.

#include "sim/wake_queue.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace inferscale {
namespace {

TEST(WakeQueue, EqualInstantsGoByIndex) {
  WakeQueue queue;
  for (int i = 0; i < 3; ++i) queue.add();
  EXPECT_EQ(queue.first_at(), Instant::never());
  queue.set(2, Instant::nanos(5));
  queue.set(1, Instant::nanos(5));
  EXPECT_EQ(queue.first(), 1U);
  queue.set(1, Instant::never());
  EXPECT_EQ(queue.first(), 2U);
}

TEST(WakeQueue, IsTheEarliestOfAllAfterEveryChange) {
  RandomStream stream(1, "wake_queue");
  for (const std::uint64_t replicas : {1U, 2U, 3U, 10U, 100U}) {
    WakeQueue queue;
    for (std::uint64_t i = 0; i < replicas; ++i) queue.add();
    std::vector<Instant> at(replicas, Instant::never());
    for (int change = 0; change < 3000; ++change) {
      const auto replica = static_cast<std::uint32_t>(stream.below(replicas));
      const std::uint64_t drawn = stream.below(50);  // few instants, so that many are equal
      at[replica] = drawn == 0 ? Instant::never() : Instant::nanos(static_cast<int>(drawn));
      queue.set(replica, at[replica]);
      std::uint32_t first = 0;
      for (std::uint32_t i = 1; i < replicas; ++i) {
        if (at[i] < at[first]) first = i;
      }
      ASSERT_EQ(queue.first_at(), at[first]);
      if (at[first] == Instant::never()) continue;
      ASSERT_EQ(queue.first(), first);
    }
  }
}

}  // namespace
}  // namespace inferscale
