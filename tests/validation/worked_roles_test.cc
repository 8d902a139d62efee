// Split roles and failures, worked through by hand (worked_engine.h).
//
// Replica 0 prefills with 8 blocks, replica 1 decodes with 4, at most 2 sequences in each; a
// transfer takes 20 us.

#include "validation/worked_engine.h"

namespace inferscale {
namespace {

class WorkedRoles : public Worked {
 protected:
  static Scenario split(const std::vector<Asked>& asked) {
    ReplicaOptions prefill = engine(SchedulerKind::kContinuousFcfs, 2, 100, 8);
    prefill.role = ReplicaRole::kPrefill;
    Scenario both = scenario(prefill, asked);
    ReplicaOptions decode = engine(SchedulerKind::kContinuousFcfs, 2, 100, 4);
    decode.role = ReplicaRole::kDecode;
    decode.index = 1;
    both.decode = decode;
    both.transfer = Duration::nanos(20'000);
    return both;
  }
};

// Blocks of a prompt stay with the prefill replica until they have been moved, and they are moved
// when the decode replica has a place and blocks.
//
//   0    A (6) and B (5). T = 21.   21  A 1, B 1: handed over, 4 blocks stay. The decode replica
//        takes both and 2 blocks each; until 41 it has nothing to run.   22  C (3), T = 13.
//   35   C 1: handed over. Both places are taken.
//   41   A (6) and B (5) are there, and no longer at the prefill replica. T = 14.   55  A 2, B 2.
//   69   A 3, B 3. C is taken; from 89 on T = 12.   101  C 2.
TEST_P(WorkedRoles, PrefillHandsOverAndDecodeTakesWhenThereIsRoom) {
  expect(split({{0, 6, 3}, {0, 5, 3}, {22, 3, 2}}),
         {{0, 21, 69, 34}, {0, 21, 69, 34}, {22, 35, 101, 66}},
         {{20, 0, 2, 4, 0},
          {25, 0, 1, 5, 0},
          {25, 0, 2, 4, 1},
          {40, 1, 2, 4, 1},
          {45, 0, 0, 1, 0},
          {70, 0, 1, 1, 1},
          {90, 0, 0, 0, 0}});
}

// One that is preempted prefills again, at the decode replica.
//
//   21   A 1, B 1, handed over.   41  T = 14.   55  A 2 (7), B 2 (6).   69  A 3 (8), B 3 (7).
//   69   A needs a third block: B is preempted. T = 12.   81  A 4 (9).   93  A 5.
//   93   B: 8 tokens. T = 18.   111  B 4 (8). T = 12.   123  B 5.
TEST_P(WorkedRoles, APreemptedSequencePrefillsWhereItDecodes) {
  expect(split({{0, 6, 5}, {0, 5, 5}}), {{0, 21, 93, 34}, {0, 21, 123, 42, 1}},
         {{70, 1, 1, 3, 1}, {95, 0, 1, 2, 1}});
  EXPECT_EQ(usage(0).prefill_steps, 1);
  EXPECT_EQ(usage(1).prefill_steps, 1);
  EXPECT_EQ(usage(1).recomputed_tokens, 8);
}

// When transfers hold the blocks that the only decoding sequence needs, it waits for one.
//
//   0    A (7). T = 17.   1  B (8) comes.
//   17   A 1: handed over, 2 blocks, there at 37. B: T = 18.
//   35   B 1: handed over, the other 2 blocks, there at 55.
//   37   A (7): T = 12.   49  A 2 (8). It needs a third block: pause.
//   55   B (8) is there. Both need a third block and none is free: B is preempted. T = 12.
//   67   A 3 (9). B needs 3 blocks for 9 tokens.   79  A 4.   79  B: T = 19.   98  B 2.
TEST_P(WorkedRoles, TheOnlyDecodingSequencePausesForATransfer) {
  expect(split({{0, 7, 4}, {1, 8, 2}}), {{0, 17, 79, 32}, {17, 35, 98, 63, 1}},
         {{45, 0, 2, 4, 1}, {50, 0, 2, 4, 1}, {60, 1, 1, 3, 1}, {90, 0, 1, 3, 1}});
  EXPECT_EQ(usage(1).busy_ns, 12'000 + 12'000 + 12'000 + 19'000);
}

// A step that would have ended when the replica fails has not ended.
//
//   0    A: T = 14.   14  Failure: A comes again.   28  A 1. T = 12.   40  A 2.
//   45   B: T = 14.   59  B 1. T = 12.   60  Failure: B comes again.   74  B 1.   86  B 2.
TEST_P(WorkedRoles, AFailureDropsTheStepThatIsUnderWay) {
  Scenario failing = scenario(engine(SchedulerKind::kVllm, 2, 100, 8), {{0, 4, 2}, {45, 4, 2}});
  failing.failures = {{.at = us(14), .retries = true}, {.at = us(60), .retries = true}};
  expect(failing, {{14, 28, 40, 12}, {60, 74, 86, 12}}, {{13, 0, 1, 1}, {62, 0, 1, 1}});
  EXPECT_EQ(usage().prefill_steps, 3);
  EXPECT_EQ(usage().decode_steps, 2);
  EXPECT_EQ(usage().busy_ns, 14'000 + 26'000 + 15'000 + 26'000);
}

// When the prefill replica fails, what it still keeps is withdrawn from the decode replica.
//
//   0    A (7). T = 17.   1  B (8) comes.
//   17   A 1: handed over, 2 blocks, there at 37. B: T = 18.
//   35   B 1: handed over, the other 2 blocks.
//   37   A: T = 12.   49  A 2 (8). It needs a third block: pause.
//   50   The prefill replica fails: B leaves, A goes on. T = 12. B comes again: T = 18.
//   62   A 3 (9).   68  B 1: handed over; 3 of 4 blocks are A's.   74  A 4.
//   74   B is taken, and is there at 94. T = 12.   106  B 2.
TEST_P(WorkedRoles, AFailedPrefillReplicaTakesBackWhatItKeeps) {
  Scenario failing = split({{0, 7, 4}, {1, 8, 2}});
  failing.failures = {{.at = us(50), .replica = 0, .retries = true}};
  expect(
      failing, {{0, 17, 74, 32}, {50, 68, 106, 38}},
      {{45, 0, 2, 4, 1}, {51, 0, 1, 3, 1}, {51, 0, 1, 2, 0}, {70, 1, 1, 3, 1}, {80, 0, 1, 2, 1}});
}

INSTANTIATE_TEST_SUITE_P(Replicas, WorkedRoles,
                         testing::Values(ReplicaKind::kSegments, ReplicaKind::kStepwise),
                         kind_name);

}  // namespace
}  // namespace inferscale
