// Block needs by residue against counting each sequence, step by step.

#include "replica/kv_blocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

BlockCount ceil_div(TokenCount tokens, std::int64_t block) {
  return (tokens + block - 1) / block;
}

TEST(KvBlocks, NeedsWhatCountingSequencesNeeds) {
  RandomStream random(3, "blocks");
  for (int trial = 0; trial < 300; ++trial) {
    const auto block = static_cast<std::int64_t>(1 + random.below(20));
    KvBlocks blocks(1'000'000, {.block_tokens = block}, false);
    std::vector<TokenCount> cached;
    for (int change = 0; change < 12; ++change) {
      if (cached.empty() || random.below(3) > 0) {
        const auto tokens = static_cast<TokenCount>(1 + random.below(100));
        blocks.take(blocks.blocks_for(tokens));
        blocks.start_growing(tokens);
        cached.push_back(tokens);
      } else {
        const size_t victim = random.below(cached.size());
        blocks.stop_growing(cached[victim]);
        blocks.give_back(blocks.blocks_for(cached[victim]));
        cached.erase(cached.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      const auto steps = static_cast<std::int64_t>(random.below(70));
      BlockCount needed = 0;
      for (const TokenCount w : cached) needed += ceil_div(w + steps, block) - ceil_div(w, block);
      ASSERT_EQ(blocks.needed_for(steps), needed) << "trial " << trial;
      blocks.advance(DecodeSegment(), steps);
      BlockCount held = 0;
      for (TokenCount& w : cached) {
        w += steps;
        held += ceil_div(w, block);
      }
      ASSERT_EQ(blocks.held(), held) << "trial " << trial;
      ASSERT_EQ(blocks.held() + blocks.free(), blocks.total());
    }
  }
}

TEST(KvBlocks, StepsThatFitIsTheLastCountThatDoesNotOverflow) {
  RandomStream random(4, "blocks");
  for (int trial = 0; trial < 500; ++trial) {
    const auto block = static_cast<std::int64_t>(1 + random.below(20));
    const auto total = static_cast<BlockCount>(200 + random.below(100));
    KvBlocks blocks(total, {.block_tokens = block}, false);
    const auto sequences = 1 + random.below(10);
    for (std::uint64_t i = 0; i < sequences; ++i) {
      const auto tokens =
          static_cast<TokenCount>(1 + random.below(static_cast<std::uint64_t>(19 * block)));
      blocks.take(blocks.blocks_for(tokens));
      blocks.start_growing(tokens);
    }
    const auto limit = static_cast<std::int64_t>(1 + random.below(600));
    std::int64_t expected = 0;
    while (expected < limit && blocks.needed_for(expected + 1) <= blocks.free()) ++expected;
    ASSERT_EQ(blocks.steps_that_fit(limit), expected) << "trial " << trial;
  }
}

TEST(KvBlocks, BlockTimeIsTheStepByStepIntegral) {
  RandomStream random(5, "blocks");
  for (int trial = 0; trial < 200; ++trial) {
    const auto block = static_cast<std::int64_t>(1 + random.below(20));
    KvBlocks blocks(1'000'000, {.block_tokens = block}, false);
    for (int i = 0; i < 5; ++i) {
      const auto tokens = static_cast<TokenCount>(1 + random.below(100));
      blocks.take(blocks.blocks_for(tokens));
      blocks.start_growing(tokens);
    }
    const DecodeSegment segment(Instant::nanos(9), {.first_ns = 1e6 * random.uniform(),
                                                    .growth_ns = 300.0 * random.uniform()});
    const auto steps = static_cast<std::int64_t>(1 + random.below(200));
    double integral = 0;
    for (std::int64_t step = 1; step <= steps; ++step) {
      const Duration took = segment.time_after(step) - segment.time_after(step - 1);
      integral += static_cast<double>(blocks.held() + blocks.needed_for(step)) *
                  static_cast<double>(took.ns());
    }
    ASSERT_NEAR(blocks.advance(segment, steps), integral, 1e-6 * integral + 2.0 * 1000)
        << "trial " << trial;
  }
}

TEST(KvBlocksDeathTest, TakingMoreThanThereAreStops) {
  KvBlocks blocks(4, {}, false);
  EXPECT_DEATH(blocks.take(5), "took 5 of 4 free blocks");
  EXPECT_DEATH(blocks.give_back(1), "gave back 1 of 0 blocks");
}

}  // namespace
}  // namespace inferscale
