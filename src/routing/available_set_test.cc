#include "routing/available_set.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "base/random.h"

namespace inferscale {
namespace {

// Compares every count, rank and position with those of a std::set.
void expect_same(const AvailableSet& set, const std::set<std::uint32_t>& expected,
                 std::uint32_t size) {
  ASSERT_EQ(set.count(), expected.size());
  std::uint32_t position = 0;
  for (const std::uint32_t index : expected) EXPECT_EQ(set.at(position++), index);
  for (std::uint32_t index = 0; index < size; ++index) {
    EXPECT_EQ(set.contains(index), expected.contains(index)) << index;
  }
  for (std::uint32_t index = 0; index <= size; ++index) {
    EXPECT_EQ(set.rank(index), std::distance(expected.begin(), expected.lower_bound(index)))
        << index;
  }
}

TEST(AvailableSet, EqualsAnOrderedSetWhileMembersComeAndGo) {
  for (const std::uint32_t size : {1u, 63u, 64u, 65u, 200u, 257u}) {
    SCOPED_TRACE(size);
    RandomStream random(size, "available set");
    AvailableSet set;
    set.grow(size);
    std::set<std::uint32_t> expected;
    for (int step = 0; step < 300; ++step) {
      const auto index = static_cast<std::uint32_t>(random.below(size));
      if (random.below(3) > 0) {
        set.insert(index);
        expected.insert(index);
      } else {
        set.erase(index);
        expected.erase(index);
      }
      if (step % 20 == 0) expect_same(set, expected, size);
    }
    expect_same(set, expected, size);
  }
}

TEST(AvailableSet, KeepsItsMembersAsItGrows) {
  AvailableSet set;
  std::set<std::uint32_t> expected;
  for (std::uint32_t size = 1; size <= 300; ++size) {
    set.grow(size);
    if (size % 3 == 0) continue;
    set.insert(size - 1);
    expected.insert(size - 1);
  }
  expect_same(set, expected, 300);
}

TEST(AvailableSet, CountsAMemberOnceHoweverOftenItIsInserted) {
  AvailableSet set;
  set.grow(2);
  set.insert(1);
  set.insert(1);
  EXPECT_EQ(set.count(), 1u);
  set.erase(0);
  EXPECT_EQ(set.count(), 1u);
  set.erase(1);
  set.erase(1);
  EXPECT_EQ(set.count(), 0u);
}

}  // namespace
}  // namespace inferscale
