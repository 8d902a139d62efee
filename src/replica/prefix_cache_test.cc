// The rules of the block cache one by one, with counts worked out by hand.

#include "replica/prefix_cache.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace inferscale {
namespace {

constexpr TokenCount kNoLimit = 1'000'000;

// A request for a chain of pieces, each {key, tokens}, and `own` tokens that nobody else has.
struct Prompt {
  std::vector<ContentPiece> pieces;
  Request request;

  explicit Prompt(std::vector<ContentPiece> chain, std::uint32_t own = 0)
      : pieces(std::move(chain)) {
    request.content = pieces.data();
    request.content_pieces = static_cast<std::uint32_t>(pieces.size());
    request.prompt_tokens = own;
    for (const ContentPiece& piece : pieces) request.prompt_tokens += piece.tokens;
  }
};

// A sequence that runs as an engine runs it: hits first, then blocks for the rest of the prompt.
class Sequence {
 public:
  Sequence(PrefixCache& cache, const Prompt& prompt)
      : cache_(cache), request_(prompt.request), tokens_(prompt.request.prompt_tokens) {
    match_ = cache.match(request_, tokens_);
    cache.acquire(request_, match_, hold_);
    own_ = (tokens_ + 3) / 4 - match_.blocks;
    cache.take(own_);
  }
  // Returns how many blocks were duplicates.
  BlockCount compute(TokenCount tokens) {
    const BlockCount before = hold_.blocks;
    const BlockCount duplicates = cache_.computed(request_, tokens, hold_);
    own_ -= hold_.blocks - before;
    return duplicates;
  }
  BlockCount compute() { return compute(tokens_); }
  void end() { cache_.release(request_, hold_, own_); }

  const PrefixCache::Match& match() const { return match_; }
  const PrefixCache::Hold& hold() const { return hold_; }

 private:
  PrefixCache& cache_;
  const Request& request_;
  TokenCount tokens_;
  PrefixCache::Match match_;
  PrefixCache::Hold hold_;
  BlockCount own_ = 0;
};

// Blocks of 4 tokens in all of these.
class PrefixCacheRules : public testing::Test {
 protected:
  TokenCount hit(const Prompt& prompt) const {
    return cache.match(prompt.request, kNoLimit).tokens;
  }
  void run_through(const Prompt& prompt) {
    Sequence sequence(cache, prompt);
    sequence.compute();
    sequence.end();
  }
  void TearDown() override { EXPECT_EQ(cache.broken_structure(), nullptr); }

  PrefixCache cache{10, 4, 1};
};

TEST_F(PrefixCacheRules, HitsShareBlocksAndStopAtTheFirstMiss) {
  const Prompt first({{1, 8}, {2, 8}}, 2);
  const Prompt second({{1, 8}, {3, 8}, {2, 8}}, 2);
  Sequence one(cache, first);
  EXPECT_EQ(cache.free(), 5);  // ceil(18 / 4) taken
  one.compute();
  // Piece 2 is readable, but not behind piece 3.
  EXPECT_EQ(hit(second), 8);
  Sequence two(cache, second);
  EXPECT_EQ(two.match().pieces, 1U);
  EXPECT_EQ(two.match().from_free, 0);
  EXPECT_EQ(cache.free(), 0);  // ceil(26 / 4) - 2 more: two blocks serve both
}

TEST_F(PrefixCacheRules, ABlockIsReadableOnlyWhenItIsWhole) {
  const Prompt prompt({{1, 7}, {2, 3}, {3, 1}, {4, 6}});  // 17 tokens: 4 whole blocks
  Sequence one(cache, prompt);
  one.compute(3);
  EXPECT_EQ(hit(prompt), 0);
  one.compute(11);
  EXPECT_EQ(hit(prompt), 8);
  one.compute();
  EXPECT_EQ(hit(prompt), 16);
  EXPECT_EQ(one.hold().blocks, 4);
  // The block of tokens 4 to 7 ends in piece 2, so it needs piece 2 and not only piece 1.
  EXPECT_EQ(hit(Prompt({{1, 7}, {5, 9}})), 4);
  EXPECT_EQ(hit(Prompt({{1, 7}, {2, 3}, {6, 1}})), 8);
}

TEST_F(PrefixCacheRules, AHitIsAtMostTheLimitInWholeBlocks) {
  const Prompt prompt({{1, 16}});
  run_through(prompt);
  EXPECT_EQ(cache.match(prompt.request, 16).tokens, 16);
  EXPECT_EQ(cache.match(prompt.request, 15).tokens, 12);
  EXPECT_EQ(cache.match(prompt.request, 3).tokens, 0);
  EXPECT_EQ(cache.match(prompt.request, 3).pieces, 0U);
}

TEST_F(PrefixCacheRules, AHitOnAFreeBlockCannotBeRecycledUnderneathIt) {
  const Prompt prompt({{1, 16}}, 8);
  run_through(prompt);
  EXPECT_EQ(cache.free(), 10);
  EXPECT_EQ(cache.cached(), 4);
  const PrefixCache::Match match = cache.match(prompt.request, kNoLimit);
  EXPECT_EQ(match.from_free, 4);
  PrefixCache::Hold hold;
  cache.acquire(prompt.request, match, hold);
  // Of 10 free blocks 6 are left to take, none of which is a hit.
  EXPECT_EQ(cache.free(), 6);
  cache.take(6);
  EXPECT_EQ(hit(prompt), 16);
  EXPECT_DEATH(cache.take(1), "took 1 of 0 free blocks");
  cache.release(prompt.request, hold, 6);
}

TEST_F(PrefixCacheRules, AFreedBlockIsStillAHit) {
  const Prompt prompt({{1, 8}, {2, 8}}, 5);
  run_through(prompt);
  EXPECT_EQ(cache.free(), 10);
  EXPECT_EQ(hit(prompt), 16);
  // And it is given out last: the 4 blank blocks that were never used, and its 2 own.
  cache.take(6);
  EXPECT_EQ(hit(prompt), 16);
}

TEST_F(PrefixCacheRules, AReassignedBlockIsNeverAHitAndTheTailGoesFirst) {
  const Prompt prompt({{1, 8}, {2, 8}});
  run_through(prompt);
  cache.take(7);
  EXPECT_EQ(hit(prompt), 12);
  cache.take(1);
  EXPECT_EQ(hit(prompt), 8);
  cache.take(1);
  EXPECT_EQ(hit(prompt), 4);
  cache.give_back(9);  // blank now: what was in them is lost
  EXPECT_EQ(hit(prompt), 4);
  EXPECT_EQ(cache.cached(), 1);
  cache.take(10);
  EXPECT_EQ(hit(prompt), 0);
}

TEST_F(PrefixCacheRules, ABlockThatWasNotComputedIsNeverAHit) {
  const Prompt prompt({{1, 16}});
  Sequence one(cache, prompt);
  EXPECT_EQ(hit(prompt), 0);  // it has its blocks, nothing is in them
  Sequence two(cache, prompt);
  EXPECT_EQ(two.match().blocks, 0);
  one.compute(8);
  EXPECT_EQ(hit(prompt), 8);
  one.end();  // preempted half-way
  EXPECT_EQ(hit(prompt), 8);
  EXPECT_EQ(cache.cached(), 2);
}

TEST_F(PrefixCacheRules, TwoThatComputeTheSamePromptKeepOneCopy) {
  const Prompt prompt({{1, 8}, {2, 8}}, 1);
  Sequence one(cache, prompt);
  Sequence two(cache, prompt);
  EXPECT_EQ(cache.free(), 0);
  EXPECT_EQ(one.compute(), 0);
  EXPECT_EQ(two.compute(), 4);
  EXPECT_EQ(cache.free(), 4);
  EXPECT_EQ(cache.cached(), 0);
  one.end();
  EXPECT_EQ(cache.free(), 5);  // its own block: the other still reads the rest
  EXPECT_EQ(cache.cached(), 0);
  two.end();
  EXPECT_EQ(cache.free(), 10);
  EXPECT_EQ(cache.cached(), 4);
}

TEST_F(PrefixCacheRules, WhoeverComputesTheRestCompletesAPiece) {
  const Prompt prompt({{1, 32}});
  Sequence one(cache, prompt);
  one.compute(12);
  one.end();
  Sequence two(cache, prompt);
  EXPECT_EQ(two.match().tokens, 12);
  EXPECT_EQ(two.match().from_free, 3);
  EXPECT_EQ(two.compute(), 0);
  EXPECT_EQ(hit(prompt), 32);
  two.end();
  EXPECT_EQ(cache.cached(), 8);
}

TEST_F(PrefixCacheRules, LeastRecentlyLetGoOfGoesFirst) {
  const Prompt first({{1, 16}});
  const Prompt second({{2, 16}});
  run_through(first);
  run_through(second);
  run_through(first);  // used again
  cache.take(6);
  EXPECT_EQ(hit(first), 16);
  EXPECT_EQ(hit(second), 0);
}

TEST_F(PrefixCacheRules, AShorterReaderKeepsTheHeadAndTheTailIsFree) {
  const Prompt whole({{1, 16}});
  Sequence one(cache, whole);
  one.compute();
  PrefixCache::Hold head;
  cache.acquire(whole.request, cache.match(whole.request, 8), head);
  one.end();
  EXPECT_EQ(cache.free(), 8);
  EXPECT_EQ(cache.cached(), 2);
  EXPECT_EQ(cache.match(whole.request, kNoLimit).from_free, 2);
  cache.take(8);
  EXPECT_EQ(hit(whole), 8);
  cache.release(whole.request, head, 8);
  EXPECT_EQ(cache.cached(), 2);
}

TEST_F(PrefixCacheRules, AnAnswerIsReadableWhereALaterPromptMayBeginWithIt) {
  Prompt asked({{1, 8}, {2, 6}});
  asked.request.output_is_content = true;
  asked.request.content_pieces = 1;
  asked.request.prompt_tokens = 8;
  PrefixCache::Hold hold;
  cache.take(4);
  cache.computed(asked.request, 13, hold);  // the last token's keys and values are never needed
  EXPECT_EQ(hold.pieces, 2U);
  EXPECT_EQ(hold.blocks, 3);
  cache.release(asked.request, hold, 1);
  EXPECT_EQ(hit(Prompt({{1, 8}, {2, 6}, {3, 9}})), 12);
}

TEST_F(PrefixCacheRules, APreemptedSequenceFindsItsOwnTokensAndNobodyElseDoes) {
  Prompt prompt({{1, 8}}, 9);
  prompt.request.id = 7;
  PrefixCache::Hold hold;
  cache.take(6);
  cache.computed(prompt.request, 20, hold);  // 17 of the prompt, 3 of the answer
  EXPECT_EQ(hold.blocks, 2);
  cache.preempt(prompt.request, 20, hold, 4);
  EXPECT_EQ(cache.cached(), 5);
  EXPECT_EQ(hit(prompt), 20);
  Prompt other({{1, 8}}, 9);
  other.request.id = 8;
  EXPECT_EQ(hit(other), 8);
  cache.take(6);  // blank ones, and the last block of the 5
  EXPECT_EQ(hit(prompt), 16);
}

TEST(PrefixCache, ABlockOfAllGroupsIsLostWithItsFirst) {
  PrefixCache cache(12, 4, 3);
  const Prompt prompt({{1, 16}});
  PrefixCache::Hold hold;
  cache.take(12);
  cache.computed(prompt.request, 16, hold);
  EXPECT_EQ(hold.blocks, 12);
  cache.release(prompt.request, hold, 0);
  cache.take(1);
  EXPECT_EQ(cache.free(), 11);
  EXPECT_EQ(cache.cached(), 9);
  EXPECT_EQ(cache.match(prompt.request, kNoLimit).tokens, 12);
  cache.take(2);  // the two that it left blank come next
  EXPECT_EQ(cache.cached(), 9);
  EXPECT_EQ(cache.broken_structure(), nullptr);
}

TEST(PrefixCache, OneHashAtTwoPlacesIsTwoPieces) {
  PrefixCache cache(100, 4, 1);
  const Prompt first({{1, 8}, {2, 8}});
  const Prompt second({{2, 8}, {2, 12}});
  PrefixCache::Hold hold;
  cache.take(4);
  cache.computed(first.request, 16, hold);
  EXPECT_EQ(cache.match(second.request, kNoLimit).tokens, 0);
}

TEST(PrefixCache, NothingIsReadBehindAMissEvenWhereHashesLie) {
  PrefixCache cache(100, 4, 1);
  const Prompt first({{1, 8}, {9, 8}});
  const Prompt second({{2, 8}, {9, 8}});  // other tokens before, and yet the same hash
  PrefixCache::Hold hold;
  cache.take(4);
  cache.computed(first.request, 16, hold);
  PrefixCache::Hold part;
  cache.take(1);
  cache.computed(second.request, 4, part);
  EXPECT_EQ(cache.match(second.request, kNoLimit).tokens, 4);
}

TEST(PrefixCache, WhatIsDroppedInTheMiddleLeavesWhatIsBeforeAndBehind) {
  PrefixCache cache(100, 4, 1);
  Prompt prompt({{1, 8}, {2, 6}, {3, 6}, {4, 8}});  // 2, 1, 2, 2 blocks
  PrefixCache::Hold hold;
  cache.take(7);
  cache.computed(prompt.request, 28, hold);
  cache.release(prompt.request, hold, 0);
  const Prompt shorter({{1, 8}, {2, 6}, {3, 6}});
  EXPECT_EQ(cache.drop(shorter.request, 1), 3);
  EXPECT_EQ(cache.cached(), 4);
  EXPECT_EQ(cache.match(prompt.request, kNoLimit).tokens, 8);
  EXPECT_EQ(cache.broken_structure(), nullptr);
  // Computed again, its end is found.
  cache.acquire(prompt.request, cache.match(prompt.request, kNoLimit), hold);
  cache.take(3);
  EXPECT_EQ(cache.computed(prompt.request, 20, hold), 0);
  EXPECT_EQ(cache.match(prompt.request, kNoLimit).tokens, 28);
  EXPECT_EQ(cache.broken_structure(), nullptr);
}

// Two pieces of one name, each behind another one: the second cannot be found by that name.
TEST(PrefixCache, WhereHashesLieADropMayLeaveWhatItCannotTellApart) {
  PrefixCache cache(100, 4, 1);
  for (const std::uint64_t before : {1U, 2U}) {
    const Prompt prompt({{before, 8}, {9, 8}});
    PrefixCache::Hold hold;
    cache.take(4);
    cache.computed(prompt.request, 16, hold);
    cache.release(prompt.request, hold, 0);
  }
  EXPECT_EQ(cache.cached(), 8);
  const Prompt first({{1, 8}});
  const Prompt second({{2, 8}});
  EXPECT_EQ(cache.drop(first.request, 0), 2);
  EXPECT_EQ(cache.drop(second.request, 0), 0);
  EXPECT_EQ(cache.match(Prompt({{2, 8}, {9, 8}}).request, kNoLimit).tokens, 16);
  EXPECT_EQ(cache.broken_structure(), nullptr);
}

TEST(PrefixCache, AThousandReadersOfOnePromptCountEach) {
  PrefixCache cache(100, 4, 1);
  const Prompt prompt({{1, 40}});
  PrefixCache::Hold writer;
  cache.take(10);
  cache.computed(prompt.request, 40, writer);
  std::vector<PrefixCache::Hold> readers(1000);
  TokenCount limit = 0;
  for (PrefixCache::Hold& reader : readers) {
    limit = limit % 40 + 4;  // all lengths from 1 to 10 blocks
    cache.acquire(prompt.request, cache.match(prompt.request, limit), reader);
  }
  cache.release(prompt.request, writer, 0);
  for (PrefixCache::Hold& reader : readers) {
    EXPECT_EQ(cache.cached(), 0);
    cache.release(prompt.request, reader, 0);
  }
  EXPECT_EQ(cache.cached(), 10);
  EXPECT_EQ(cache.free(), 100);
}

}  // namespace
}  // namespace inferscale
