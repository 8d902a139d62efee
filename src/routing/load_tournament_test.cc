#include "routing/load_tournament.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/random.h"

namespace inferscale {
namespace {

// The best by looking at all of them.
std::optional<std::uint32_t> best_of(const std::map<std::uint32_t, LoadKey>& keys) {
  std::optional<std::uint32_t> best;
  const auto order = [&](std::uint32_t i) {
    const LoadKey& key = keys.at(i);
    return std::tuple(key.load, key.next_load, -key.weight, key.last_dispatch, i);
  };
  for (const auto& [i, key] : keys) {
    if (!best || order(i) < order(*best)) best = i;
  }
  return best;
}

LoadKey random_key(RandomStream& random) {
  // Few values, so that all tie rules are met.
  return {.load = static_cast<double>(random.below(3)),
          .next_load = static_cast<double>(random.below(2)),
          .weight = static_cast<double>(1 + random.below(2)),
          .last_dispatch = random.below(4)};
}

TEST(LoadTournament, NamesTheBestOfAllThatTakePart) {
  for (const std::uint32_t size : {1u, 2u, 3u, 7u, 8u, 9u, 40u}) {
    SCOPED_TRACE(size);
    RandomStream random(size, "tournament");
    LoadTournament tournament;
    tournament.grow(size);
    std::map<std::uint32_t, LoadKey> keys;
    for (int step = 0; step < 2000; ++step) {
      const auto replica = static_cast<std::uint32_t>(random.below(size));
      if (random.below(4) == 0) {
        tournament.remove(replica);
        keys.erase(replica);
      } else {
        keys[replica] = random_key(random);
        tournament.set(replica, keys[replica]);
      }
      ASSERT_EQ(tournament.best(), best_of(keys)) << "step " << step;
    }
  }
}

TEST(LoadTournament, KeepsWhoTakesPartAsItGrows) {
  RandomStream random(1, "tournament");
  LoadTournament tournament;
  EXPECT_EQ(tournament.best(), std::nullopt);
  std::map<std::uint32_t, LoadKey> keys;
  for (std::uint32_t size = 1; size <= 70; ++size) {
    tournament.grow(size);
    ASSERT_EQ(tournament.best(), best_of(keys)) << size;
    if (size % 5 == 0) continue;
    keys[size - 1] = random_key(random);
    tournament.set(size - 1, keys[size - 1]);
    ASSERT_EQ(tournament.best(), best_of(keys)) << size;
  }
}

}  // namespace
}  // namespace inferscale
