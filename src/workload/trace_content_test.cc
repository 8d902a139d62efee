// Chains of block hashes as pieces: what prompts shared before, they share after, block by block.

#include "workload/trace_content.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

using Hashes = std::vector<std::uint64_t>;

constexpr std::uint32_t kBlock = 16;

struct Prompt {
  Hashes hashes;
  std::uint32_t tokens;
};

Prompt whole(Hashes hashes) {
  const auto tokens = static_cast<std::uint32_t>(hashes.size()) * kBlock;
  return {std::move(hashes), tokens};
}

TraceContent content_of(const std::vector<Prompt>& prompts) {
  BlockChains chains(kBlock);
  for (const Prompt& prompt : prompts) chains.add(prompt.hashes, prompt.tokens);
  return chains.finish(7);
}

std::vector<std::uint32_t> tokens_of(const TraceContent& content, std::size_t row) {
  std::vector<std::uint32_t> tokens;
  for (const ContentPiece& piece : content.of(row)) tokens.push_back(piece.tokens);
  return tokens;
}

using Tokens = std::vector<std::uint32_t>;

TEST(BlockChains, JoinBlocksThatNoPromptParts) {
  const TraceContent content =
      content_of({whole({1, 2, 3, 4, 5}), whole({1, 2, 3, 8}), whole({1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(tokens_of(content, 0), (Tokens{48, 32}));
  EXPECT_EQ(tokens_of(content, 1), (Tokens{48, 16}));
  EXPECT_EQ(tokens_of(content, 2), (Tokens{48, 32, 16}));
  EXPECT_EQ(content.of(0)[0].key, content.of(1)[0].key);
  EXPECT_EQ(content.of(0)[1].key, content.of(2)[1].key);
  EXPECT_NE(content.of(0)[1].key, content.of(1)[1].key);
}

TEST(BlockChains, EndAPieceWhereAPromptEnds) {
  const TraceContent content = content_of({whole({1, 2, 3}), whole({1, 2})});
  EXPECT_EQ(tokens_of(content, 0), (Tokens{32, 16}));
  EXPECT_EQ(tokens_of(content, 1), (Tokens{32}));
}

TEST(BlockChains, KeepABlockThatIsNotFullApart) {
  // The same hash, full in one prompt and not in the other: they share what is before it.
  const TraceContent content =
      content_of({whole({1, 2, 3}), {{1, 2, 3}, 2 * kBlock + 5}, {{1, 2}, 2 * kBlock + 9}});
  EXPECT_EQ(tokens_of(content, 0), (Tokens{32, 16}));
  EXPECT_EQ(tokens_of(content, 1), (Tokens{32, 5}));
  EXPECT_EQ(tokens_of(content, 2), (Tokens{32}));
  EXPECT_EQ(content.of(0)[0].key, content.of(1)[0].key);
}

TEST(BlockChains, DoNotJoinWhatHadAnotherBlockBeforeIt) {
  // Hashes that break the contract: block 3 behind 2 and behind 9.
  const TraceContent content = content_of({whole({2, 3}), whole({9, 3}), whole({3})});
  EXPECT_EQ(tokens_of(content, 0), (Tokens{16, 16}));
  EXPECT_EQ(tokens_of(content, 1), (Tokens{16, 16}));
  EXPECT_EQ(tokens_of(content, 2), (Tokens{16}));
}

TEST(BlockChains, OfPromptsWithoutBlocksAreEmpty) {
  const TraceContent content = content_of({{{}, 5}, {{4}, 3}});
  EXPECT_TRUE(content.any());
  EXPECT_TRUE(content.of(0).empty());
  EXPECT_EQ(tokens_of(content, 1), (Tokens{3}));
}

TEST(ContentKeys, OfTwoScopesDiffer) {
  for (std::uint64_t number = 0; number < 1000; ++number) {
    EXPECT_NE(content_key(stable_hash("one"), number), content_key(stable_hash("two"), number));
  }
}

std::size_t common_blocks(const Prompt& a, const Prompt& b) {
  const auto [end, other] =
      std::mismatch(a.hashes.begin(), a.hashes.end(), b.hashes.begin(), b.hashes.end());
  return static_cast<std::size_t>(end - a.hashes.begin());
}

std::uint32_t common_tokens(const TraceContent& content, std::size_t a, std::size_t b) {
  std::uint32_t tokens = 0;
  const auto left = content.of(a);
  const auto right = content.of(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (left[i].key != right[i].key || left[i].tokens != right[i].tokens) break;
    tokens += left[i].tokens;
  }
  return tokens;
}

// Random trees of prompts: each begins like an earlier one for a while. A hash stands for the whole
// prompt up to its block, as in real traces.
TEST(BlockChains, ShareAsManyTokensAsTheBlocksDid) {
  RandomStream random(1, "chains");
  for (int round = 0; round < 50; ++round) {
    std::vector<Prompt> prompts;
    std::uint64_t next_hash = 1;
    for (int i = 0; i < 40; ++i) {
      Hashes hashes;
      if (i > 0) {
        const Hashes& earlier = prompts[random.below(prompts.size())].hashes;
        hashes.assign(earlier.begin(), earlier.begin() + static_cast<std::ptrdiff_t>(
                                                             random.below(earlier.size() + 1)));
      }
      for (std::uint64_t more = random.below(12); more > 0; --more) hashes.push_back(next_hash++);
      prompts.push_back(whole(std::move(hashes)));
    }
    const TraceContent content = content_of(prompts);
    for (std::size_t a = 0; a < prompts.size(); ++a) {
      std::uint32_t tokens = 0;
      for (const ContentPiece& piece : content.of(a)) tokens += piece.tokens;
      EXPECT_EQ(tokens, prompts[a].tokens);
      for (std::size_t b = 0; b < a; ++b) {
        ASSERT_EQ(common_tokens(content, a, b), common_blocks(prompts[a], prompts[b]) * kBlock);
      }
    }
  }
}

}  // namespace
}  // namespace inferscale
