// Blocks of a sequence against a count of the blocks that a moving window touches, and the layout
// of windowed models against sizes that an engine reported.

#include "replica/kv_layout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catalog/models.h"

namespace inferscale {
namespace {

TEST(BlockTokens, DivideAsDivisionDoes) {
  for (std::int64_t block = 1; block <= 70; ++block) {
    const BlockTokens tokens = block;
    EXPECT_EQ(tokens, block);
    for (const TokenCount dividend : {0L, 1L, block - 1, block, block + 1, 7 * block - 1, 7 * block,
                                      1'000'000'007L, INT64_MAX}) {
      ASSERT_EQ(tokens.full_blocks(dividend), dividend / block) << dividend << " by " << block;
    }
  }
}

TEST(KvLayout, PlainModelsHoldEveryToken) {
  const KvLayout layout = kv_layout(*find_model("llama-3.1-8b"), WindowBlocks::kFreed, 16);
  EXPECT_FALSE(layout.has_window());
  EXPECT_EQ(layout.blocks_for(0), 0);
  EXPECT_EQ(layout.blocks_for(1), 1);
  EXPECT_EQ(layout.blocks_for(16), 1);
  EXPECT_EQ(layout.blocks_for(17), 2);
}

TEST(KvLayout, FollowsTheModelsGroups) {
  const ModelSpec gpt_oss = *find_model("gpt-oss-20b");
  const KvLayout freed = kv_layout(gpt_oss, WindowBlocks::kFreed, 16);
  EXPECT_EQ(freed.full_groups, 1);
  EXPECT_EQ(freed.window_groups, 1);
  EXPECT_EQ(freed.window_tokens, 128);
  // 63 blocks of the full group; the window's 8 and one more.
  EXPECT_EQ(freed.blocks_for(1000), 63 + 9);
  EXPECT_EQ(freed.blocks_for(100), 7 + 7);
  const KvLayout kept = kv_layout(gpt_oss, WindowBlocks::kKept, 16);
  EXPECT_FALSE(kept.has_window());
  EXPECT_EQ(kept.blocks_for(1000), 63);
}

TEST(KvLayout, AModelOfWindowsOnlyHasNoFullGroup) {
  ModelSpec model;
  model.layers = 32;
  model.sliding_window = 4096;
  model.sliding_window_layers = 32;
  const KvLayout layout = kv_layout(model, WindowBlocks::kFreed, 16);
  EXPECT_EQ(layout.full_groups, 0);
  EXPECT_EQ(layout.blocks_for(4000), 250);
  EXPECT_EQ(layout.blocks_for(1'000'000), 257);
}

// Blocks with a token that the next one still attends to: the last W - 1, and the new one's own.
std::int64_t touched(std::int64_t tokens, std::int64_t window, std::int64_t block) {
  std::int64_t count = 0;
  const std::int64_t first = std::max<std::int64_t>(0, tokens - window);
  for (std::int64_t begin = 0; begin < tokens; begin += block) {
    if (begin + block > first) ++count;
  }
  return count;
}

TEST(KvLayout, AWindowTouchesAtMostTheBlocksThatAreCounted) {
  for (const std::int64_t block : {1, 3, 16}) {
    for (const std::int64_t window : {1, 5, 16, 17, 128}) {
      const KvLayout layout{
          .block_tokens = block, .full_groups = 0, .window_groups = 1, .window_tokens = window};
      std::int64_t most = 0;
      for (std::int64_t tokens = 0; tokens < 400; ++tokens) {
        const std::int64_t held = touched(tokens, window, block);
        ASSERT_LE(held, layout.blocks_for(tokens)) << tokens << ", " << window << ", " << block;
        most = std::max(most, layout.blocks_for(tokens) - held);
      }
      EXPECT_LE(most, 2) << window << " by " << block;  // not much more is counted either
    }
  }
}

// vLLM 0.22.1, gpt-oss-120b over 8 H200, blocks of 64 tokens, chunks of 8192, requests of 131,072:
// 104.71 of them, 13,724,416 tokens, when windows are kept; 196.83, 25,798,626, when freed.
TEST(KvLayout, RequestsThatFitAreThoseThatVllmReported) {
  const ModelSpec model = *find_model("gpt-oss-120b");
  constexpr TokenCount kTokens = 131072;
  const KvLayout kept = kv_layout(model, WindowBlocks::kKept, 64);
  const double when_kept = requests_that_fit(kept, 13'724'416 / 64, kTokens, 8192);
  EXPECT_NEAR(when_kept, 104.71, 0.005);
  EXPECT_EQ(std::llround(when_kept * kTokens), 13'724'416);
  // A block of half as many layers: twice as many blocks.
  const KvLayout freed = kv_layout(model, WindowBlocks::kFreed, 64);
  const double when_freed = requests_that_fit(freed, 2 * 13'724'416 / 64, kTokens, 8192);
  EXPECT_NEAR(when_freed, 196.83, 0.005);
  EXPECT_NEAR(when_freed * kTokens, 25'798'626, 61);  // one block is 60 tokens
}

TEST(KvLayout, AChunkIsHeldBesideTheWindow) {
  const KvLayout layout{
      .block_tokens = 16, .full_groups = 1, .window_groups = 3, .window_tokens = 17};
  // 63 blocks; in each window group 16 earlier tokens and the chunk's 16, and one block more.
  EXPECT_EQ(requests_that_fit(layout, 7200, 1000, 16), 7200.0 / (63 + 3 * 3));
  // A request shorter than that holds its own.
  EXPECT_EQ(requests_that_fit(layout, 500, 20, 16), 500.0 / (2 + 3 * 3));
}

}  // namespace
}  // namespace inferscale
