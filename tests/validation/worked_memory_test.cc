// Watermarks, windows and cached prefixes, worked through by hand (worked_engine.h).

#include "validation/worked_engine.h"

namespace inferscale {
namespace {

class WorkedMemory : public Worked {};

// continuous_fcfs, 4 blocks of which 2 stay free at an admission: the empty replica lets A in all
// the same, and B waits though its one block is free.
//
//   0    A: 6, T = 16.   1  B comes.   16, 28, 40  A 1, A 2, A 3.
//   40   B: 3, T = 13.   53  B 1.   65  B 2.
TEST_P(WorkedMemory, AWatermarkStaysFreeUnlessTheBatchIsEmpty) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousFcfs, 3, 16, 4);
  options.watermark_blocks = 3;
  expect(scenario(options, {{0, 6, 3}, {1, 3, 2}}), {{0, 16, 40, 12}, {40, 53, 65, 12}},
         {{30, 1, 1, 2}, {50, 0, 1, 1}});
  options.watermark_blocks = 1;
  //   16   A 1 (6). B's block leaves 1 free. T = 13.   29  B 1 (3). T = 14.
  //   43   A 2, B 2. A, T = 12.   55  A 3.
  expect(scenario(options, {{0, 6, 3}, {1, 3, 2}}), {{0, 16, 55, 27}, {16, 29, 43, 14}},
         {{20, 0, 2, 3}, {50, 0, 1, 2}});
}

// A group of layers with full attention and one with a window of 8 tokens, which keeps at most
// 8 / 4 + 1 = 3 blocks: blocks(w) = ceil(w / 4) + min(ceil(w / 4), 3).
//
//   0    A: 10 tokens, 3 + 3 blocks.   20  A 1 (10).   32  A 2 (11).   44  A 3 (12).
//   44   The 13th token takes a fourth block of the first group only.   56  A 4.
TEST_P(WorkedMemory, AWindowGroupStopsGrowing) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousFcfs, 3, 16, 20);
  options.layout.window_groups = 1;
  options.layout.window_tokens = 8;
  expect(scenario(options, {{0, 10, 4}}), {{0, 20, 56, 12}},
         {{10, 0, 1, 6}, {43, 0, 1, 6}, {44, 0, 1, 7}, {56, 0, 0, 0}});
}

// A resident prefix of 10 tokens: its 2 whole blocks are held from the start. 8 blocks.
//
//   0    A begins with it: 10 of 12 tokens are there, 2 to compute, 3 - 2 blocks. B begins with it
//        too: 8 of 9 (one token is always computed), 1 to compute, 3 - 2 blocks. C does not: 5
//        tokens, 2 blocks. T = 10 + 2 + 1 + 5 = 18.
//   18   A 1 (12), B 1 (9), C 1 (5). A takes another block. T = 16.   34  A 2, B 2, C 2.
TEST_P(WorkedMemory, AResidentPrefixIsSharedByAll) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousFcfs, 3, 16, 8);
  options.shared_prefix_tokens = 10;
  expect(scenario(options, {{0, 12, 2, 0, 0, 10}, {0, 9, 2, 0, 0, 9}, {0, 5, 2}}),
         {{0, 18, 34, 16, 0, 10}, {0, 18, 34, 16, 0, 8}, {0, 18, 34, 16}},
         {{0, 0, 3, 6}, {20, 0, 3, 7}, {34, 0, 0, 2}});
  EXPECT_EQ(usage().prompt_tokens_looked_up, 12 + 9 + 5);
  EXPECT_EQ(usage().prompt_tokens_cached, 10 + 8);
}

// The pieces of content that the prompts of the next two scenarios begin with: 8 tokens, 4 more.
constexpr ContentPiece kPieces[] = {{.key = 11, .tokens = 8}, {.key = 22, .tokens = 4}};

void share(Scenario& scenario, RequestId id, std::uint32_t pieces) {
  scenario.requests[id].content = kPieces;
  scenario.requests[id].content_pieces = pieces;
}

// A block cache of 6 blocks, one request at a time. A's prompt begins with the first piece, those
// of B, C, E and F with both; F is nothing else.
//
//   0    A: nothing is there, 10 tokens. T = 20.   20  A 1.   32  A 2.
//   32   B: 8 of 14 tokens are there. T = 16.   48  B 1 (14, 4 blocks).   60  B 2.
//   60   C: 12 of 13. T = 11.   71  C 1.   83  C 2.
//   83   F: 12 tokens, of which 11 may be found: 8. T = 14.   97  F 1.
//   97   D: 22 tokens of its own take all 6 blocks. T = 32.   129  D 1.
//   129  E: what was there is lost. 13 tokens, T = 23.   152  E 1.   164  E 2.
TEST_P(WorkedMemory, FinishedRequestsLeaveTheirContentUntilItsBlocksAreNeeded) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousFcfs, 1, 100, 6);
  options.prefix_caching = true;
  Scenario all =
      scenario(options, {{0, 10, 2}, {1, 14, 2}, {2, 13, 2}, {4, 22, 1}, {5, 13, 2}, {3, 12, 1}});
  share(all, 0, 1);
  for (const RequestId id : {1U, 2U, 4U, 5U}) share(all, id, 2);
  std::swap(all.requests[3], all.requests[5]);
  std::swap(all.requests[4], all.requests[5]);
  expect(all,
         {{0, 20, 32, 12},
          {32, 48, 60, 12, 0, 8},
          {60, 71, 83, 12, 0, 12},
          {97, 129, 129, 0},
          {129, 152, 164, 12},
          {83, 97, 97, 0, 0, 8}},
         {{10, 5, 1, 3}, {50, 4, 1, 4}, {100, 1, 1, 6}, {164, 0, 0, 0}});
  EXPECT_EQ(usage().prompt_tokens_looked_up, 10 + 14 + 13 + 12 + 22 + 13);
  EXPECT_EQ(usage().prompt_tokens_cached, 8 + 12 + 8);
}

// A block cache of 4 blocks: what somebody holds costs nothing, and can be found as soon as the
// step that computes it has ended.
//
//   0    A: 9 tokens, 3 blocks. T = 19.   5  B comes with the same content.
//   19   A 1 (9). 8 of B's 9 tokens are in A's first two blocks; the third is B's own, and the last
//        one that is free. T = 11.
//   30   B 1 (9). T = 14.   44  A 2, B 2.
TEST_P(WorkedMemory, RunningRequestsShareBlocks) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousFcfs, 2, 100, 4);
  options.prefix_caching = true;
  Scenario both = scenario(options, {{0, 9, 2}, {5, 9, 2}});
  share(both, 0, 1);
  share(both, 1, 1);
  expect(both, {{0, 19, 44, 25}, {19, 30, 44, 14, 0, 8}}, {{10, 1, 1, 3}, {20, 0, 2, 4}});
}

// Two prompts with the same content in one step: both compute it, and one copy is given back.
//
//   0    A and B: 9 tokens, 3 blocks each. T = 28.
//   28   A 1, B 1. B's first two blocks were computed by A as well: one copy goes. T = 14.   42
//   end.
TEST_P(WorkedMemory, TwoThatComputeTheSameKeepOneCopy) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousFcfs, 2, 100, 8);
  options.prefix_caching = true;
  Scenario both = scenario(options, {{0, 9, 2}, {0, 9, 2}});
  share(both, 0, 1);
  share(both, 1, 1);
  expect(both, {{0, 28, 42, 14}, {0, 28, 42, 14}}, {{10, 0, 2, 6}, {30, 0, 2, 4}});
}

INSTANTIATE_TEST_SUITE_P(Replicas, WorkedMemory,
                         testing::Values(ReplicaKind::kSegments, ReplicaKind::kStepwise),
                         kind_name);

}  // namespace
}  // namespace inferscale
