#include "routing/prefix_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/random.h"

namespace inferscale {
namespace {

// A prompt of pieces with these keys, 100 tokens each unless said otherwise.
struct Prompt {
  std::vector<ContentPiece> pieces;
  Request request;

  explicit Prompt(const std::vector<std::uint64_t>& keys, std::uint32_t tokens = 100,
                  bool answer_is_content = false) {
    for (const std::uint64_t key : keys) pieces.push_back({key, tokens});
    request.content = pieces.data();
    request.content_pieces =
        static_cast<std::uint32_t>(pieces.size()) - (answer_is_content ? 1 : 0);
    request.output_is_content = answer_is_content;
    request.prompt_tokens = request.content_pieces * tokens + 10;
  }
};

PrefixIndex index_for(std::uint32_t replicas, TokenCount capacity) {
  PrefixIndex index;
  for (std::uint32_t i = 0; i < replicas; ++i) index.add_replica(capacity);
  return index;
}

TEST(PrefixIndex, MatchesAsFarAsThePromptsAgree) {
  PrefixIndex index = index_for(2, 10'000);
  index.dispatched(0, Prompt({1, 2, 3}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 3, 4}).request), 3u);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 9}).request), 2u);
  EXPECT_EQ(index.pieces_held(0, Prompt({7}).request), 0u);
  EXPECT_EQ(index.pieces_held(1, Prompt({1, 2, 3}).request), 0u);
  EXPECT_EQ(index.pieces_held(Prompt({1, 2, 9}).request), 2u);
}

TEST(PrefixIndex, CountsAnAnswerThatLaterPromptsContinue) {
  PrefixIndex index = index_for(1, 10'000);
  index.dispatched(0, Prompt({1, 2}, 100, true).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 3}).request), 2u);
}

TEST(PrefixIndex, ForgetsTheTailOfTheOldestPromptFirst) {
  PrefixIndex index = index_for(1, 500);
  index.dispatched(0, Prompt({1, 2, 3}).request);
  index.dispatched(0, Prompt({1, 4, 5}).request);
  EXPECT_EQ(index.size(), 5u);
  index.dispatched(0, Prompt({6}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 3}).request), 2u);
  index.dispatched(0, Prompt({7}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 3}).request), 1u);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 4, 5}).request), 3u);
}

TEST(PrefixIndex, KeepsTheHeadOfAPromptLongerThanItsCapacity) {
  PrefixIndex index = index_for(1, 250);
  index.dispatched(0, Prompt({1, 2, 3, 4}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 3, 4}).request), 2u);
}

TEST(PrefixIndex, BoundsTinyPiecesTooByChargingEachForSixteenTokens) {
  PrefixIndex index = index_for(1, 1600);
  for (std::uint64_t key = 0; key < 1000; ++key) index.dispatched(0, Prompt({key}, 1).request);
  EXPECT_EQ(index.size(), 100u);
}

TEST(PrefixIndex, ListsThoseThatBeganToHoldItLastLatestFirst) {
  PrefixIndex index = index_for(12, 150);
  const Prompt prompt({1});
  for (std::uint32_t replica = 0; replica < 12; ++replica)
    index.dispatched(replica, prompt.request);
  // Replica 7 held it before, replica 8 gives it up for another one.
  index.dispatched(7, prompt.request);
  index.dispatched(8, Prompt({2}).request);
  const PrefixIndex::Holders holders = index.holders(1);
  EXPECT_EQ(holders.count, 11u);
  EXPECT_EQ(std::vector<std::uint32_t>(holders.listed.begin(), holders.listed.end()),
            (std::vector<std::uint32_t>{11, 10, 9, 7, 6, 5, 4}));
  // One that is not listed is known all the same.
  EXPECT_EQ(index.pieces_held(0, prompt.request), 1u);
}

TEST(PrefixIndex, APieceThatWasUsedByItselfOutlivesThoseBelowIt) {
  PrefixIndex index = index_for(1, 300);
  index.dispatched(0, Prompt({1, 2}).request);
  index.dispatched(0, Prompt({3}).request);
  index.dispatched(0, Prompt({1}).request);
  index.dispatched(0, Prompt({4}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2}).request), 1u) << "2 was used first";
  index.dispatched(0, Prompt({5}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({3}).request), 0u) << "3 was used before 1 was again";
  EXPECT_EQ(index.pieces_held(0, Prompt({1}).request), 1u);
}

TEST(PrefixIndex, StaysSmallWhenOnePromptIsSentAgainAndAgain) {
  PrefixIndex index = index_for(1, 1000);
  for (int i = 0; i < 10'000; ++i) index.dispatched(0, Prompt({1, 2, 3}).request);
  EXPECT_EQ(index.size(), 3u);
  for (std::uint64_t key = 10; key < 20; ++key) index.dispatched(0, Prompt({key}).request);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2, 3}).request), 0u);
  EXPECT_EQ(index.size(), 10u);
}

TEST(PrefixIndex, ForgetsAReplicaThatStartsAnew) {
  PrefixIndex index = index_for(2, 10'000);
  index.dispatched(0, Prompt({1, 2}).request);
  index.dispatched(1, Prompt({1}).request);
  index.forget(0);
  EXPECT_EQ(index.pieces_held(0, Prompt({1, 2}).request), 0u);
  EXPECT_EQ(index.holders(1).count, 1u);
  EXPECT_EQ(index.holders(2).count, 0u);
  EXPECT_EQ(index.pieces_held(Prompt({1, 2}).request), 1u);
}

// One list of keys for each replica, the one used longest ago first.
class NaiveIndex {
 public:
  NaiveIndex(std::uint32_t replicas, TokenCount capacity) : lists_(replicas), capacity_(capacity) {}
  void dispatched(std::uint32_t replica, const Request& request) {
    std::deque<ContentPiece>& list = lists_[replica];
    for (std::uint32_t i = request.content_pieces; i > 0; --i) {
      const ContentPiece piece = request.content[i - 1];
      std::erase_if(list, [&](const ContentPiece& other) { return other.key == piece.key; });
      list.push_back(piece);
      while (tokens(list) > capacity_) list.pop_front();
    }
  }
  void forget(std::uint32_t replica) { lists_[replica].clear(); }
  // Piece by piece, from the first on.
  std::uint32_t pieces_held(std::uint32_t replica, const Request& request) const {
    std::uint32_t held = 0;
    while (held < request.content_pieces && holds(replica, request.content[held].key)) ++held;
    return held;
  }
  std::set<std::uint32_t> holders(std::uint64_t key) const {
    std::set<std::uint32_t> holders;
    for (std::uint32_t i = 0; i < lists_.size(); ++i) {
      if (holds(i, key)) holders.insert(i);
    }
    return holders;
  }

 private:
  bool holds(std::uint32_t replica, std::uint64_t key) const {
    return std::any_of(lists_[replica].begin(), lists_[replica].end(),
                       [&](const ContentPiece& piece) { return piece.key == key; });
  }
  static TokenCount tokens(const std::deque<ContentPiece>& list) {
    TokenCount sum = 0;
    for (const ContentPiece& piece : list) sum += std::max<TokenCount>(16, piece.tokens);
    return sum;
  }

  std::vector<std::deque<ContentPiece>> lists_;
  TokenCount capacity_;
};

// A path in a tree of prompts: equal keys mean equal prompts so far.
std::vector<ContentPiece> random_path(RandomStream& random) {
  std::vector<ContentPiece> pieces;
  std::uint64_t key = 1;
  const std::uint64_t length = 1 + random.below(6);
  for (std::uint64_t i = 0; i < length; ++i) {
    key = key * 4 + random.below(3);
    pieces.push_back({key, static_cast<std::uint32_t>(1 + key % 50)});
  }
  return pieces;
}

TEST(PrefixIndex, EqualsAListOfKeysForEachReplica) {
  constexpr std::uint32_t kReplicas = 5;
  RandomStream random(4, "prefix index");
  PrefixIndex index = index_for(kReplicas, 400);
  NaiveIndex naive(kReplicas, 400);
  for (int step = 0; step < 5000; ++step) {
    const std::vector<ContentPiece> pieces = random_path(random);
    Request request;
    request.content = pieces.data();
    request.content_pieces = static_cast<std::uint32_t>(pieces.size());
    std::uint32_t most = 0;
    for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
      ASSERT_EQ(index.pieces_held(replica, request), naive.pieces_held(replica, request));
      most = std::max(most, naive.pieces_held(replica, request));
    }
    ASSERT_EQ(index.pieces_held(request), most);
    const PrefixIndex::Holders holders = index.holders(pieces[0].key);
    ASSERT_EQ(holders.count, naive.holders(pieces[0].key).size());
    ASSERT_EQ(std::set(holders.listed.begin(), holders.listed.end()), naive.holders(pieces[0].key));
    const auto replica = static_cast<std::uint32_t>(random.below(kReplicas));
    if (random.below(200) == 0) {
      index.forget(replica);
      naive.forget(replica);
    } else {
      index.dispatched(replica, request);
      naive.dispatched(replica, request);
    }
  }
}

}  // namespace
}  // namespace inferscale
