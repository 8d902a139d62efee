// sglang's steps, worked through by hand (worked_engine.h, docs/schedulers/sglang.md).

#include "validation/worked_engine.h"

namespace inferscale {
namespace {

class WorkedSglang : public Worked {};

// 8 tokens a step: a long prompt is computed alone, chunk after chunk, and decoding waits.
//
//   0    A: 4. T = 14.   14  A 1. T = 12.   15  B comes with 18 tokens.
//   26   A 2 (5). The room expected: 18 free blocks, 72 tokens, less about 0.7 x 3. B: 8. T = 18.
//   44   B: 8. T = 18.   62  B: 2. T = 12.
//   74   B 1 (18). T = 14.   88  A 3, B 2. T = 12.   100  A 4.   112  A 5.
TEST_P(WorkedSglang, ChunksOfOnePromptRunAlone) {
  expect(scenario(engine(SchedulerKind::kSglang, 3, 8, 20), {{0, 4, 5}, {15, 18, 2}}),
         {{0, 14, 112, 62}, {26, 74, 88, 14}},
         {{25, 1, 1, 2}, {30, 0, 2, 4}, {50, 0, 2, 6}, {70, 0, 2, 7}, {74, 0, 2, 7}});
  EXPECT_EQ(usage().prefill_steps, 4);
  EXPECT_EQ(usage().decode_steps, 4);
}

// 10 blocks, with priorities. A may generate 30 tokens and generates 4.
//
//   0    A: 4. T = 14.   1  B: 8 tokens, at most 12 (of which 3 come).   2  C: 4 and 4 (2).
//   14   A 1 (4). Expected room: 9 x 4 - 0.7 x 29 = 15.7. B needs 8 + 12 + 4 = 24: the batch is
//        full. A alone, T = 12, until somebody leaves.
//   20   D comes: 1 token, answer 1, with priority. It would fit (6 tokens), but nobody is tried.
//   50   A 4. The batch is empty, everything is free: 40. D: 1 token, the room falls by 4 + 4 + 1.
//        B: 24 < 31, 8 tokens, by 8 + 4 + 12. C: 12 is not less than 7: full. T = 19.
//   69   D 1, and so the batch is not full. B 1 (8). Expected: 8 x 4 - 0.7 x 11 = 24.3. C: T = 14.
//   83   C 1 (4). T = 14.   97  B 2, C 2. T = 12.   109  B 3.
TEST_P(WorkedSglang, AFullBatchIsClosedUntilSomebodyLeaves) {
  ReplicaOptions options = engine(SchedulerKind::kSglang, 5, 16, 10);
  options.by_priority = true;
  expect(scenario(options, {{0, 4, 4, 30}, {1, 8, 3, 12}, {2, 4, 2, 4}, {20, 1, 1, 1, 5}}),
         {{0, 14, 50, 12}, {50, 69, 109, 28}, {69, 83, 97, 14}, {50, 69, 69, 0}},
         {{13, 2, 1, 1}, {40, 3, 1, 2}, {55, 1, 2, 3}, {70, 0, 2, 3}});
}

// Blocks of 1 token, 71 of them. Of equal answers the longest prompt is retracted, though it was
// admitted first; it goes to the end of the queue.
//
//   0    A: 4 tokens, 40 to come. T = 14.   5  B: 2 tokens, 36 to come.
//   14   A 1 (4). Expected room: 67 - 0.7 x 39 = 39.7. B needs 2 + 36 + 1 = 39. T = 12.
//   26   B 1 (2). After s steps of T = 14: A (4 + s), B (2 + s).
//   474  s = 32: 36 + 34 blocks, 1 is free and 2 are needed. Both have 33 tokens: A is retracted.
//   The
//        ratio is min(1, (33 + 20) / (36 + 1)) = 1. B alone, T = 12.
//   486  Expected: 71 - 35 - 1 x 2 = 34. A needs 37 + 7 + 1 = 45: full.
//   510  B 36. A: 37 tokens. T = 47.   557  A 34. Six steps of 12.   629  A 40.
TEST_P(WorkedSglang, TheFewestTokensAndThenTheLongestPromptAreRetracted) {
  ReplicaOptions options = engine(SchedulerKind::kSglang, 5, 64, 71);
  options.layout.block_tokens = 1;
  const std::vector<Asked> asked = {{0, 4, 40}, {5, 2, 36}};
  expect(scenario(options, asked), {{0, 14, 629, 83, 1}, {14, 26, 510, 14}},
         {{473, 0, 2, 70}, {475, 1, 1, 35}, {500, 1, 1, 37}, {556, 0, 1, 37}});
  EXPECT_EQ(usage().recomputed_tokens, 37);
  // With one block less the room expected at 14 is 38.7, and B is not let in: A has 39 more steps.
  options.kv_blocks = 70;
  expect(scenario(options, asked), {{0, 14, 482, 12}, {482, 494, 914, 12}}, {{100, 1, 1, 12}});
}

INSTANTIATE_TEST_SUITE_P(Replicas, WorkedSglang,
                         testing::Values(ReplicaKind::kSegments, ReplicaKind::kStepwise),
                         kind_name);

}  // namespace
}  // namespace inferscale
