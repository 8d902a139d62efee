// Orders of the queue and mixed steps, worked through by hand (worked_engine.h).

#include "validation/worked_engine.h"

namespace inferscale {
namespace {

class WorkedSchedulers : public Worked {};

constexpr ServiceEstimate kService{.prefill_ns_per_token = 1000, .decode_ns_per_token = 10'000};

// continuous_sjf, one at a time; service = 1 us a prompt token + 10 us a token asked for. C has the
// longest prompt and goes first; D, of which 6 are asked for and 2 come, is judged by the 6.
//
//   0    A runs: 14, 26.
//   1    B comes: 8 + 3 x 10 = 38.   2  C: 20 + 1 x 10 = 30.   3  D: 2 + 6 x 10 = 62.
//   26   C: T = 30.   56   B: T = 18, then 12, 12.   98   D: T = 12, then 12.
TEST_P(WorkedSchedulers, ContinuousSjfTakesTheShortestServiceFirst) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousSjf, 1, 100, 100);
  options.service = kService;
  expect(scenario(options, {{0, 4, 2}, {1, 8, 3}, {2, 20, 1}, {3, 2, 2, 6}}),
         {{0, 14, 26, 12}, {56, 74, 98, 12}, {26, 56, 56, 0}, {98, 110, 122, 12}},
         {{25, 3, 1, 2}, {30, 2, 1, 5}});
}

// continuous_sjf with 4 blocks: a preempted request has a key like everybody, and C's is less.
//
//   0    A (6 + 50 = 56) and B (5 + 60 = 65) are admitted, 2 blocks each. T = 21.
//   21   A 1 (6), B 1 (5).   35   A 2 (7), B 2 (6).   T = 14 each.
//   30   C comes: 3 + 3 x 10 = 33.
//   49   A 3 (8), B 3 (7). A's next token needs a third block: B, the last admitted, is preempted
//        with 8 tokens to compute and 3 to come: 38. A alone, T = 12.
//   61   A 4 (9). The head is C: 1 block, 1 is free. T = 13.
//   74   C 1 (3). A and C, T = 14.
//   88   A 5, the last. C 2 (4). B: 2 blocks. T = 18.
//   106  B 4 (8). C and B both need another block, one is free: B is preempted, with 9 tokens.
//        C alone, T = 12.
//   118  C 3, the last. B: 3 blocks, T = 19.
//   137  B 5 (9). T = 12.   149  B 6.
TEST_P(WorkedSchedulers, ContinuousSjfReordersThePreempted) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousSjf, 2, 100, 4);
  options.service = kService;
  expect(scenario(options, {{0, 6, 5}, {0, 5, 6}, {30, 3, 3}}),
         {{0, 21, 88, 27}, {0, 21, 149, 57, 2}, {61, 74, 118, 30}},
         {{48, 1, 2, 4}, {50, 2, 1, 3}, {61, 1, 2, 4}, {90, 0, 2, 3}, {107, 1, 1, 2}});
  EXPECT_EQ(usage().recomputed_tokens, 8 + 9);
}

// continuous_slo, one at a time, E2E limit 100 us: slack = arrival + 100 - service.
//
//   0    A runs: 14, 26.
//   1    B comes: 101 - 38 = 63.   2  C: 102 - 30 = 72.   3  D: 103 - 62 = 41.
//   26   D: T = 12, then 5 x 12.   98   B: 18, 12, 12.   140  C: 30.
TEST_P(WorkedSchedulers, ContinuousSloTakesTheLeastSlackFirst) {
  ReplicaOptions options = engine(SchedulerKind::kContinuousSlo, 1, 100, 100);
  options.service = kService;
  options.e2e_limit = Duration::nanos(100'000);
  expect(scenario(options, {{0, 4, 2}, {1, 8, 3}, {2, 20, 1}, {3, 2, 6}}),
         {{0, 14, 26, 12}, {98, 116, 140, 12}, {140, 170, 170, 0}, {26, 38, 98, 12}}, {});
}

// chunked_slo, 8 tokens a step: partial and waiting ones are served in one order.
//
//   0    A: a chunk of 8 of 12. T = 18.
//   5    B comes: 105 - 6 - 20 = 79.   6  C: 106 - 3 - 60 = 43.
//   18   A's slack is reckoned afresh: 100 - 4 - 30 = 66. C: 3 tokens, A: 4, B: the 1 left. T = 18.
//   36   C 1 (3), A 1 (12). Both decode, B gets its 5. T = 10 + 5 + 4 = 19.
//   55   C 2 (4), A 2 (13), B 1 (6). T = 16.
//   71   A 3, B 2, C 3 (5). C alone, T = 12.   107  C 6.
TEST_P(WorkedSchedulers, ChunkedSloServesPartialAndWaitingInOneOrder) {
  ReplicaOptions options = engine(SchedulerKind::kChunkedSlo, 3, 8, 20);
  options.service = kService;
  options.e2e_limit = Duration::nanos(100'000);
  expect(scenario(options, {{0, 12, 3}, {5, 6, 2}, {6, 3, 6}}),
         {{0, 36, 71, 19}, {18, 55, 71, 16}, {18, 36, 107, 19}},
         {{17, 2, 1, 2}, {18, 0, 3, 5}, {36, 0, 3, 7}, {55, 0, 3, 8}, {71, 0, 1, 2}});
  EXPECT_EQ(usage().prefill_steps, 3);
  EXPECT_EQ(usage().decode_steps, 5);
}

// chunked_slo with 6 blocks, at most 1 token of a prompt in a step: a chunk that does not fit
// waits.
//
//   0    A: 1 token, T = 11, four times.   34  B comes.
//   44   A 1 (4). B's 3 blocks fit. From here on A gains a token and B a chunk of 1 at each step of
//        T = 13: after k of them A has 4 + k tokens cached and B k.
//   148  k = 8: A 9 (12), B (8). A takes the last block as its fourth; B would need its third and
//        gets no chunk. A alone, T = 12.
//   184  A 12, the last. B: 1 token, T = 11, four times.
//   228  B 1 (12). T = 12.   240  B 2.
TEST_P(WorkedSchedulers, ChunkedSloLeavesOutAChunkThatDoesNotFit) {
  ReplicaOptions options = engine(SchedulerKind::kChunkedSlo, 2, 4, 6);
  options.service = kService;
  options.e2e_limit = Duration::nanos(100'000);
  options.long_prefill_token_threshold = 1;
  expect(scenario(options, {{0, 4, 12}, {34, 12, 2}}), {{0, 44, 184, 13}, {44, 228, 240, 12}},
         {{147, 0, 2, 5}, {148, 0, 2, 6}, {183, 0, 2, 6}, {184, 0, 1, 3}});
  EXPECT_EQ(usage().preemptions, 0);
}

// vllm, 8 tokens a step: decodes first, then the partial prompt, then the queue.
//
//   0    A: 8 of 12. T = 18.   1  B comes.
//   18   A: the other 4. B: 4 of 6. T = 18.
//   36   A 1 (12). A decodes, B gets 2. T = 10 + 2 + 2 = 14.
//   50   A 2 (13), B 1 (6). T = 14.   64  A 3, B 2.
TEST_P(WorkedSchedulers, VllmMixesChunksAndDecodes) {
  expect(scenario(engine(SchedulerKind::kVllm, 3, 8, 20), {{0, 12, 3}, {1, 6, 2}}),
         {{0, 36, 64, 14}, {18, 50, 64, 14}}, {{17, 1, 1, 2}, {18, 0, 2, 4}, {36, 0, 2, 6}});
}

// vllm, at most 3 tokens of a prompt in a step: a short prompt passes a long one.
//
//   0    A: 3 of 7. B: its 2. T = 15.
//   15   B 1 (2). B decodes, A: 3. T = 10 + 3 + 2 = 15.
//   30   B 2. A: 1. T = 11.   41  A 1. T = 12.   53  A 2.
TEST_P(WorkedSchedulers, VllmThresholdLetsShortPromptsPass) {
  ReplicaOptions options = engine(SchedulerKind::kVllm, 3, 8, 20);
  options.long_prefill_token_threshold = 3;
  expect(scenario(options, {{0, 7, 2}, {0, 2, 2}}), {{0, 41, 53, 12}, {0, 15, 30, 15}}, {});
}

// vllm with 4 blocks: the last admitted is preempted and goes to the head of the queue.
//
//   0    A: 6, B: 5 tokens, 2 blocks each. T = 21.
//   21   A 1 (6), B 1 (5).   35  A 2 (7), B 2 (6).   T = 14 each.   30  C comes.
//   49   A 3 (8), B 3 (7). A needs a third block: B is preempted. T = 12.
//   61   A 4 (9). B needs 2 blocks for 8 tokens, 1 is free, and C stands behind it. T = 12.
//   73   A 5. B: 8 tokens, C: 3. T = 21.
//   94   B 4 (8), C 1 (3). T = 14.   108  B 5, C 2 (4). T = 12.   120  C 3.
TEST_P(WorkedSchedulers, VllmPreemptsTheLastAdmitted) {
  expect(scenario(engine(SchedulerKind::kVllm, 3, 16, 4), {{0, 6, 5}, {0, 5, 5}, {30, 3, 3}}),
         {{0, 21, 73, 14}, {0, 21, 108, 45, 1}, {73, 94, 120, 14}},
         {{48, 1, 2, 4}, {50, 2, 1, 3}, {80, 0, 2, 3}, {100, 0, 2, 4}, {110, 0, 1, 2}});
}

// vllm with priorities and 4 blocks: the least one is preempted, though it was admitted first.
//
//   0    A (priority 0): 6. T = 16.   1  B (1) comes.
//   16   A 1 (6). A decodes, B: 5. T = 10 + 5 + 2 = 17.   30  C (2) comes.
//   33   A 2 (7), B 1 (5). No block for C. T = 14.
//   47   A 3 (8), B 2 (6). A needs a third block: A is preempted. C's block is there now, but
//   nobody
//        is admitted at a boundary that preempted. B alone, T = 12.
//   59   B 3 (7). C: 3. A needs 3 blocks for 9 tokens, 1 is left. T = 10 + 3 + 2 = 15.
//   74   B 4 (8), C 1 (3). T = 14.   88  B 5, C 2 (4). T = 12.
//   100  C 3. A: 9. T = 19.   119  A 4 (9). T = 12.   131  A 5.
TEST_P(WorkedSchedulers, VllmPreemptsTheLeastPriority) {
  ReplicaOptions options = engine(SchedulerKind::kVllm, 3, 16, 4);
  options.by_priority = true;
  expect(scenario(options, {{0, 6, 5, 5, 0}, {1, 5, 5, 5, 1}, {30, 3, 3, 3, 2}}),
         {{0, 16, 131, 72, 1}, {16, 33, 88, 15}, {59, 74, 100, 14}},
         {{46, 1, 2, 4}, {47, 2, 1, 2}, {59, 1, 2, 3}, {74, 1, 2, 4}, {89, 1, 1, 2}});
}

// vllm with 4 blocks, at most 2 tokens of a prompt in a step: the chunk of a partial prompt
// preempts a decoding sequence that was admitted after it. (Both prompts were let in: the check at
// admission is no reservation.)
//
//   0    A: 2 of 12, its 3 blocks are free. B: 2 of 3. T = 14.
//   14   A (4), B: 1. T = 13.
//   27   B 1 (3). B decodes, A: 2, a second block. T = 14.
//   41   B 2 (4), A (6). B takes a second block. T = 14.
//   55   B 3 (5), A (8). A's next chunk needs a third block and none is free: B is preempted. T
//   = 12. 67   A (10). B needs 2 blocks for 6 tokens, 1 is free. A: 2. T = 12. 79   A 1 (12). T
//   = 12.   91  A 2. B: 2 + 2 + 2, T = 12 each. 127  B 4 (6). Five steps of 12.   187  B 9.
TEST_P(WorkedSchedulers, VllmChunksPreemptToo) {
  ReplicaOptions options = engine(SchedulerKind::kVllm, 2, 8, 4);
  options.long_prefill_token_threshold = 2;
  expect(scenario(options, {{0, 12, 2}, {0, 3, 9}}), {{0, 79, 91, 12}, {0, 27, 187, 72, 1}},
         {{13, 0, 2, 2}, {40, 0, 2, 3}, {54, 0, 2, 4}, {56, 1, 1, 3}, {92, 0, 1, 1}});
  EXPECT_EQ(usage().recomputed_tokens, 6);
}

// vllm with priorities and 4 blocks, 4 tokens a step, at most 2 of a prompt: a decoding victim's
// token goes to a prompt behind the one that it made room for.
//
//   0    A (priority 0): 2 of 4. T = 12.   12  A: 2. T = 12.   13  B (2).   14  C (1).
//   24   A 1 (4). A decodes and takes a second block. B: 2 of 8. C: the 1 that is left. T = 15.
//   39   A 2 (5), B (2), C (1): the same. T = 15.
//   54   A 3 (6), B (4), C (2). B's next 2 need a second block and none is free: A is preempted.
//   Its
//        token is free again, so C gets 2. T = 14.
//   68   B (6), C 1 (4). C decodes and takes the last block. B: 2. T = 14.
//   82   B 1 (8), C 2. A: 2 + 2 + 2 of 7, T = 12 each, and 1, T = 11.   129  A 4.
TEST_P(WorkedSchedulers, VllmGivesAVictimsTokenToOthers) {
  ReplicaOptions options = engine(SchedulerKind::kVllm, 4, 4, 4);
  options.by_priority = true;
  options.long_prefill_token_threshold = 2;
  expect(scenario(options, {{0, 4, 4, 4, 0}, {13, 8, 1, 1, 2}, {14, 4, 2, 2, 1}}),
         {{0, 24, 129, 75, 1}, {24, 82, 82, 0}, {24, 68, 82, 14}},
         {{50, 0, 3, 4}, {55, 1, 2, 3}, {70, 1, 2, 4}, {90, 0, 1, 1}});
}

INSTANTIATE_TEST_SUITE_P(Replicas, WorkedSchedulers,
                         testing::Values(ReplicaKind::kSegments, ReplicaKind::kStepwise),
                         kind_name);

}  // namespace
}  // namespace inferscale
