// The index of pieces against a map, through growth and removals.

#include "replica/piece_index.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/random.h"

namespace inferscale {
namespace {

using Known = std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint32_t>;

TEST(PieceIndex, FindsWhatAMapFinds) {
  RandomStream random(1, "piece_index");
  PieceIndex index;
  Known known;
  for (int step = 0; step < 200'000; ++step) {
    // Waves: first more additions than removals, then the other way round, ten times.
    const bool growing = step / 10'000 % 2 == 0;
    const PieceName name{.key = random.below(20'000),
                         .start = 16 * static_cast<std::uint32_t>(random.below(2)),
                         .tokens = 16 + static_cast<std::uint32_t>(random.below(2))};
    const auto found = known.find({name.key, name.start, name.tokens});
    ASSERT_EQ(index.find(name), found == known.end() ? PieceIndex::kAbsent : found->second);
    if (found == known.end() && (growing || random.below(4) == 0)) {
      known[{name.key, name.start, name.tokens}] = index.add(name);
    } else if (found != known.end() && (!growing || random.below(4) == 0)) {
      index.remove(found->second);
      known.erase(found);
    }
    ASSERT_EQ(index.size(), known.size());
  }
  EXPECT_GT(known.size(), 100U);
}

TEST(PieceIndex, UsesNumbersAgain) {
  PieceIndex index;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    const std::uint32_t first = index.add({.key = 2 * round});
    const std::uint32_t second = index.add({.key = 2 * round + 1});
    ASSERT_LT(first, 2U);
    ASSERT_LT(second, 2U);
    index.remove(first);
    index.remove(second);
  }
}

}  // namespace
}  // namespace inferscale
