// The generators against their authors' published values; streams against each other.

#include "base/random.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace inferscale {
namespace {

// First outputs of the authors' C program for these states, as other implementations of it quote
// them in their tests.
TEST(SplitMix64, GivesThePublishedValues) {
  SplitMix64 generator(1234567);
  for (std::uint64_t wanted :
       {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
        4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(generator.next(), wanted);
  }
}

TEST(RandomStream, GivesThePublishedValuesOfXoshiro256PlusPlus) {
  RandomStream stream = RandomStream::from_state({1, 2, 3, 4});
  for (std::uint64_t wanted :
       {41943041ULL, 58720359ULL, 3588806011781223ULL, 3591011842654386ULL, 9228616714210784205ULL,
        9973669472204895162ULL, 14011001112246962877ULL}) {
    EXPECT_EQ(stream.next(), wanted);
  }
}

TEST(StableHash, IsFnv1a) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171f73967e8);
}

TEST(RandomStream, SeedAndNameGiveTheSameNumbersForEver) {
  RandomStream stream(42, "arrivals");
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 4; ++i) drawn.push_back(stream.next());
  const std::vector<std::uint64_t> golden = {0x358f0ef3f2d801ab, 0x6d5f9a91ff40649f,
                                             0x09560abda106722c, 0xc70b6e1458d80667};
  EXPECT_EQ(drawn, golden);
}

TEST(RandomStream, OtherSeedsAndNamesGiveOtherNumbers) {
  std::set<std::uint64_t> first;
  int streams = 0;
  for (std::uint64_t seed : {0ULL, 1ULL, 2ULL, 1ULL << 63, ~0ULL}) {
    for (const char* name : {"arrivals", "arrival", "prompt_tokens", "output_tokens", ""}) {
      first.insert(RandomStream(seed, name).next());
      ++streams;
    }
  }
  EXPECT_EQ(first.size(), static_cast<std::size_t>(streams));
}

TEST(RandomStream, UniformStaysInsideTheOpenInterval) {
  // The largest and the smallest value that the 52 leading bits can give.
  EXPECT_LT((static_cast<double>(~std::uint64_t{0} >> 12) + 0.5) * 0x1p-52, 1.0);
  RandomStream stream(1, "uniform");
  double sum = 0;
  constexpr int kDraws = 1'000'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.2887 / 1000);  // five standard errors
}

TEST(RandomStream, BelowIsUniformForBoundsThatDoNotDivideTheRange) {
  RandomStream stream(7, "below");
  constexpr int kDraws = 300'000;
  std::vector<int> counts(7, 0);
  for (int i = 0; i < kDraws; ++i) ++counts[stream.below(7)];
  double chi_square = 0;
  const double expected = kDraws / 7.0;
  for (int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 22.46);  // 6 degrees of freedom, 0.1 %
  // With a bound of 3/4 of the range, taking the remainder alone would favour the lowest third:
  // it would come up in half of the draws.
  const std::uint64_t bound = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += stream.below(bound) < bound / 3 ? 1 : 0;
  EXPECT_NEAR(low, kDraws / 3.0, 5 * 258.2);
  EXPECT_EQ(stream.below(1), 0U);
}

TEST(RandomStreamDeathTest, RefusesWhatCannotBeDrawn) {
  RandomStream stream(1, "x");
  EXPECT_DEATH(stream.below(0), "below 0");
  EXPECT_DEATH(RandomStream::from_state({0, 0, 0, 0}), "zero");
}

}  // namespace
}  // namespace inferscale
