#include "base/recent_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "base/random.h"

namespace inferscale {
namespace {

TEST(RecentKeys, KnowsWhichWasUsedLongestAgo) {
  RandomStream random(1, "recent keys");
  RecentKeys keys;
  std::list<std::pair<std::uint64_t, std::uint64_t>> expected;  // the oldest first
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    const std::uint64_t key = random.below(60);
    const auto found = std::find_if(expected.begin(), expected.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    const RecentKeys::Place place = keys.find(key);
    ASSERT_EQ(place != RecentKeys::kNone, found != expected.end());
    if (found == expected.end()) {
      keys.add(key, step);
      expected.emplace_back(key, step);
    } else {
      ASSERT_EQ(keys.key(place), key);
      ASSERT_EQ(keys.value(place), found->second);
      if (random.below(3) == 0) {
        keys.erase(place);
        expected.erase(found);
      } else {
        keys.set_value(place, step);
        keys.touch(place);
        expected.erase(found);
        expected.emplace_back(key, step);
      }
    }
    if (random.below(3000) == 0) {
      keys.clear();
      expected.clear();
    }
    ASSERT_EQ(keys.size(), expected.size());
    ASSERT_EQ(keys.oldest() == RecentKeys::kNone, expected.empty());
    if (!expected.empty()) {
      ASSERT_EQ(keys.key(keys.oldest()), expected.front().first);
    }
  }
}

}  // namespace
}  // namespace inferscale
