// The queue against a plain map, removals in the middle included.

#include "replica/finish_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace inferscale {
namespace {

TEST(FinishQueue, GivesTheLeastStepAsASortedListDoes) {
  constexpr std::uint32_t kSlots = 60;
  RandomStream random(5, "heap");
  FinishQueue queue;
  std::map<std::uint32_t, std::int64_t> expected;  // slot -> step
  for (int i = 0; i < 30'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(random.below(kSlots));
    if (expected.contains(slot)) {
      queue.remove(slot);
      expected.erase(slot);
    } else {
      const auto step = static_cast<std::int64_t>(random.below(100));
      queue.push(step, slot);
      expected[slot] = step;
    }
    ASSERT_EQ(queue.size(), expected.size());
    if (expected.empty()) continue;
    std::int64_t least = INT64_MAX;
    for (const auto& [_, step] : expected) least = std::min(least, step);
    ASSERT_EQ(queue.first_step(), least);
    ASSERT_EQ(expected.at(queue.first_slot()), least);
  }
}

TEST(FinishQueue, GivesThemInTurnWhereAllTakeEquallyLong) {
  constexpr std::uint32_t kSlots = 7;
  FinishQueue queue;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) queue.push(slot, slot);
  for (std::int64_t step = 0; step < 2'000; ++step) {
    ASSERT_EQ(queue.size(), kSlots);
    ASSERT_EQ(queue.first_step(), step);
    const std::uint32_t slot = queue.first_slot();
    ASSERT_EQ(slot, step % kSlots);
    queue.remove_first();
    ASSERT_FALSE(queue.holds(slot));
    queue.push(step + kSlots, slot);
  }
}

}  // namespace
}  // namespace inferscale
