#include "base/key_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace inferscale {
namespace {

// Random inserts and erases of keys made by `key_of`, against a std::map.
template <typename KeyOf>
void expect_like_a_map(std::uint64_t seed, std::uint64_t keys, const KeyOf& key_of) {
  RandomStream random(seed, "key table");
  KeyTable table;
  std::map<std::uint64_t, std::uint32_t> expected;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    const std::uint64_t key = key_of(random.below(keys));
    if (expected.contains(key)) {
      ASSERT_EQ(table.find(key), expected[key]);
      // Long phases of growth and of shrinking.
      if (random.below(4) < 1 + 2 * (step / 5000 % 2)) {
        table.erase(key);
        expected.erase(key);
      }
    } else {
      ASSERT_EQ(table.find(key), KeyTable::kNone);
      table.insert(key, step);
      expected[key] = step;
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (std::uint64_t i = 0; i < keys; ++i) {
    const auto found = expected.find(key_of(i));
    EXPECT_EQ(table.find(key_of(i)), found == expected.end() ? KeyTable::kNone : found->second);
  }
}

TEST(KeyTable, FindsWhatIsThereForDenseKeys) {
  expect_like_a_map(1, 500, [](std::uint64_t i) { return i; });
}

TEST(KeyTable, FindsWhatIsThereForKeysThatDifferInHighBitsOnly) {
  expect_like_a_map(2, 500, [](std::uint64_t i) { return i << 52; });
}

TEST(KeyTable, FindsWhatIsThereForKeysOfAllKinds) {
  expect_like_a_map(3, 300,
                    [](std::uint64_t i) { return i == 0 ? UINT64_MAX : SplitMix64(i).next(); });
}

TEST(KeyTableDeathTest, RefusesAKeyThatIsThereAndAKeyThatIsNot) {
  KeyTable table;
  EXPECT_DEATH(table.erase(7), "empty");
  table.insert(7, 1);
  EXPECT_DEATH(table.insert(7, 2), "the key 7 is in the table already");
  EXPECT_DEATH(table.erase(8), "the key 8 is not in the table");
}

}  // namespace
}  // namespace inferscale
