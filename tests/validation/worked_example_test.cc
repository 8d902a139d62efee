// Requests worked through by hand, event by event, from docs/schedulers alone.
//
// The engine of both examples: KV blocks of 4 tokens; a step costs 10 us, and 1 us for each token
// prefilled, or 2 us for each sequence that decodes and 0.1 us for each token that they attend to.
// "A 2" is the second token of A. Cached tokens are those behind the step that ends at the instant.
//
// Requests: A comes at 0 us with 6 tokens and wants 5; B at 5 us with 5 and wants 5; C at 30 us
// with 3 and wants 3.

#include <gtest/gtest.h>

#include "property/list_source.h"
#include "replica/latency/linear.h"
#include "sim/simulator.h"

namespace inferscale {
namespace {

Request request(RequestId id, std::int64_t arrival_us, std::uint32_t prompt, std::uint32_t output) {
  return {.id = id,
          .prompt_tokens = prompt,
          .output_tokens = output,
          .max_tokens = output,
          .arrival = Instant::nanos(arrival_us * 1000)};
}

// The state from an instant (in tenths of a microsecond) until the next row's.
struct State {
  std::int64_t from;
  std::int64_t waiting;
  std::int64_t running;
  BlockCount blocks;
  std::int64_t finished;
};

// Timestamps in tenths of a microsecond.
struct Expected {
  std::int64_t start;
  std::int64_t first_token;
  std::int64_t finish;
  std::int64_t longest_gap;
  std::uint32_t gaps_over_20us;
  std::uint16_t preemptions;
};

constexpr std::int64_t kTenth = 100;  // ns

// With segments and with single steps.
class WorkedExample : public testing::TestWithParam<bool> {
 protected:
  SimulationResult run(const ReplicaOptions& replica, std::vector<Request> requests) {
    const auto latency = make_linear({.step_us = 10,
                                      .prefill_us_per_token = 1,
                                      .decode_us_per_sequence = 2,
                                      .decode_ns_per_context_token = 100},
                                     {});
    ListSource source(std::move(requests));
    SimulatorOptions options{.replica = replica, .stepwise = GetParam(), .verify = true};
    options.signals_interval = Duration::nanos(kTenth);
    options.replica.itl_limit = Duration::nanos(20'000);
    SimulationResult result = simulate(options, *latency, source, {});
    for (const std::string& violation : result.violations) ADD_FAILURE() << violation;
    return result;
  }

  static void expect_outcome(const Outcome& actual, const Expected& expected, const char* who) {
    EXPECT_EQ(actual.status, OutcomeStatus::kFinished) << who;
    EXPECT_EQ(actual.start.ns(), expected.start * kTenth) << who;
    EXPECT_EQ(actual.first_token.ns(), expected.first_token * kTenth) << who;
    EXPECT_EQ(actual.finish.ns(), expected.finish * kTenth) << who;
    EXPECT_EQ(actual.itl_max.ns(), expected.longest_gap * kTenth) << who;
    EXPECT_EQ(actual.gaps_over_limit, expected.gaps_over_20us) << who;
    EXPECT_EQ(actual.preemptions, expected.preemptions) << who;
  }

  // Every tenth of a microsecond of the run against the row that it falls in.
  static void expect_states(const std::vector<SignalSample>& samples,
                            const std::vector<State>& rows) {
    ASSERT_EQ(samples.size(), static_cast<size_t>(rows.back().from) + 1);
    size_t row = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      while (row + 1 < rows.size() && rows[row + 1].from <= static_cast<std::int64_t>(i)) ++row;
      ASSERT_EQ(samples[i].at.ns(), static_cast<std::int64_t>(i) * kTenth);
      ASSERT_EQ(samples[i].queue_depth, rows[row].waiting) << i << " tenths of a us";
      ASSERT_EQ(samples[i].running, rows[row].running) << i << " tenths of a us";
      ASSERT_EQ(samples[i].kv_blocks_used, rows[row].blocks) << i << " tenths of a us";
      ASSERT_EQ(samples[i].finished, rows[row].finished) << i << " tenths of a us";
    }
  }
};

// continuous_fcfs, at most 3 sequences, 10 prompt tokens a step, 4 KV blocks (16 tokens).
//
//   us     what happens                                          cached A, B, C   blocks held
//   0      A comes; needs ceil(6/4) = 2 blocks, is admitted.     -                2 A
//          Prefill of 6: 10 + 6 = 16 us.
//   5      B comes and waits.
//   16     A 1. B needs 2 blocks, 2 are free: admitted.          6  -  -          2 A, 2 B
//          Prefill of 5: 15 us; A waits for it.
//   30     C comes and waits.
//   31     B 1. C needs 1 block, none is free.                   6  5  -          2 A, 2 B
//          Decode A, B: 10 + 2 x 2 + 0.1 x (7 + 6) = 15.3 us.
//   46.3   A 2, B 2. C: none free.                               7  6  -          2 A, 2 B
//          Decode: 14 + 0.1 x (8 + 7) = 15.5 us.
//   61.8   A 3, B 3. C: none free.                               8  7  -          2 A, 2 B
//          A's 8 tokens fill its 2 blocks: it needs a third for the next step and none is free, so
//          B, admitted last, is preempted: its 2 blocks are free, it waits before C with 3 tokens
//          to its name. A takes its block. Decode A: 12 + 0.1 x 9 = 12.9 us.      3 A
//   74.7   A 4. B has 5 + 3 = 8 tokens to prefill: 2 blocks,     9  -  -          3 A
//          1 is free. C would fit, but B stands before it.
//          Decode A: 12 + 0.1 x 10 = 13 us.
//   87.7   A 5, the last. Its blocks are free. B is admitted     -  -  -          2 B
//          with 2 blocks; C's 3 tokens with B's 8 are more
//          than 10 in one step. Prefill of 8: 18 us.
//   105.7  B 4: 43.9 us after B 3. C needs 1 block, 2 are free:  -  8  -          2 B, 1 C
//          admitted. Prefill of 3: 13 us.
//   118.7  C 1. B's 8 tokens fill its 2 blocks: it takes the     -  8  3          3 B, 1 C
//          last one. Decode B, C: 14 + 0.1 x (9 + 4) = 15.3 us.
//   134.0  B 5, the last: its 3 blocks are free. C 2.            -  -  4          2 C
//          C's 4 tokens fill its block: it takes another.
//          Decode C: 12 + 0.1 x 5 = 12.5 us.
//   146.5  C 3, the last.                                        -  -  -          0
//
//   Gaps: A 30.3, 15.5, 12.9, 13.0. B 15.3, 15.5, 43.9, 28.3. C 15.3, 12.5.
TEST_P(WorkedExample, ContinuousFcfsWithAPreemption) {
  const SimulationResult result =
      run({.max_num_seqs = 3,
           .max_num_batched_tokens = 10,
           .layout = {.block_tokens = 4},
           .kv_blocks = 4,
           .max_model_len = 100},
          {request(0, 0, 6, 5), request(1, 5, 5, 5), request(2, 30, 3, 3)});
  expect_outcome(result.outcomes[0], {0, 160, 877, 303, 1, 0}, "A");
  expect_outcome(result.outcomes[1], {160, 310, 1340, 439, 2, 1}, "B");
  expect_outcome(result.outcomes[2], {1057, 1187, 1465, 153, 0, 0}, "C");
  expect_states(result.signals, {{0, 0, 1, 2, 0},
                                 {50, 1, 1, 2, 0},
                                 {160, 0, 2, 4, 0},
                                 {300, 1, 2, 4, 0},
                                 {618, 2, 1, 3, 0},
                                 {877, 1, 1, 2, 1},
                                 {1057, 0, 2, 3, 1},
                                 {1187, 0, 2, 4, 1},
                                 {1340, 0, 1, 2, 2},
                                 {1465, 0, 0, 0, 3}});
  EXPECT_EQ(result.usage.prefill_steps, 4);
  EXPECT_EQ(result.usage.decode_steps, 6);
  EXPECT_EQ(result.usage.preemptions, 1);
  EXPECT_EQ(result.usage.recomputed_tokens, 8);
  EXPECT_EQ(result.usage.kv_blocks_peak, 4);
  EXPECT_EQ(result.usage.running_peak, 2);
  EXPECT_EQ(result.usage.queue_peak, 2);
  // A step runs all the time. Sequences: 16 x 1 + 45.8 x 2 + 43.9 x 1 + 28.3 x 2 + 12.5 x 1.
  // Blocks: 16 x 2 + 45.8 x 4 + 25.9 x 3 + 18 x 2 + 13 x 3 + 15.3 x 4 + 12.5 x 2.
  EXPECT_DOUBLE_EQ(result.usage.busy_ns, 146'500);
  EXPECT_DOUBLE_EQ(result.usage.sequence_ns, 220'600);
  EXPECT_DOUBLE_EQ(result.usage.kv_block_ns, 454'100);
  EXPECT_EQ(result.gaps->total(), 10);
}

// static_fcfs, at most 2 sequences, 7 prompt tokens a step, 6 KV blocks. D comes at 100 us with 2
// tokens and wants 1.
//
//   us     what happens                                                          blocks held
//   0      A alone is the batch: 6 + 5 = 11 tokens, 3 blocks. Prefill: 16 us.    3 A
//   5, 30  B and C come and wait: the batch is closed.
//   16     A 1. Decode: 12 + 0.1 x 7 = 12.7 us.
//   28.7   A 2. Decode: 12.8 us.
//   41.5   A 3. Decode: 12.9 us.
//   54.4   A 4. Decode: 13.0 us.
//   67.4   A 5, the last. The next batch is B and C (3 and 2 blocks). Their      3 B
//          5 + 3 tokens are more than 7: B is prefilled first, 15 us. C's
//          blocks are taken when its own step starts.
//   82.4   B 1. Prefill of C: 13 us.                                             3 B, 2 C
//   95.4   C 1. Decode B, C: 14 + 0.1 x (6 + 4) = 15 us.
//   100    D comes and waits, though blocks are free.
//   110.4  B 2, C 2. Decode: 14 + 0.1 x (7 + 5) = 15.2 us.
//   125.6  B 3; C 3, the last: its place stays empty. Decode B: 12.8 us.         3 B
//   138.4  B 4. Decode: 12.9 us.
//   151.3  B 5, the last. D is the batch: 1 block. Prefill of 2: 12 us.          1 D
//   163.3  D 1, the last.                                                        0
//
//   Gaps: A 12.7, 12.8, 12.9, 13.0. B 28.0, 15.2, 12.8, 12.9. C 15.0, 15.2.
TEST_P(WorkedExample, StaticFcfs) {
  const SimulationResult result =
      run({.scheduler = SchedulerKind::kStaticFcfs,
           .max_num_seqs = 2,
           .max_num_batched_tokens = 7,
           .layout = {.block_tokens = 4},
           .kv_blocks = 6,
           .max_model_len = 100},
          {request(0, 0, 6, 5), request(1, 5, 5, 5), request(2, 30, 3, 3), request(3, 100, 2, 1)});
  expect_outcome(result.outcomes[0], {0, 160, 674, 130, 0, 0}, "A");
  expect_outcome(result.outcomes[1], {674, 824, 1513, 280, 1, 0}, "B");
  expect_outcome(result.outcomes[2], {824, 954, 1256, 152, 0, 0}, "C");
  expect_outcome(result.outcomes[3], {1513, 1633, 1633, 0, 0, 0}, "D");
  expect_states(result.signals, {{0, 0, 1, 3, 0},
                                 {50, 1, 1, 3, 0},
                                 {300, 2, 1, 3, 0},
                                 {674, 1, 1, 3, 1},
                                 {824, 0, 2, 5, 1},
                                 {1000, 1, 2, 5, 1},
                                 {1256, 1, 1, 3, 2},
                                 {1513, 0, 1, 1, 3},
                                 {1633, 0, 0, 0, 4}});
  EXPECT_EQ(result.usage.prefill_steps, 4);
  EXPECT_EQ(result.usage.decode_steps, 8);
  EXPECT_EQ(result.usage.preemptions, 0);
  EXPECT_EQ(result.usage.kv_blocks_peak, 5);
  // Sequences: 82.4 x 1 + 43.2 x 2 + 37.7 x 1. Blocks: 82.4 x 3 + 43.2 x 5 + 25.7 x 3 + 12 x 1.
  EXPECT_DOUBLE_EQ(result.usage.busy_ns, 163'300);
  EXPECT_DOUBLE_EQ(result.usage.sequence_ns, 206'500);
  EXPECT_DOUBLE_EQ(result.usage.kv_block_ns, 552'300);
}

INSTANTIATE_TEST_SUITE_P(Replicas, WorkedExample, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Stepwise" : "Segments";
});

}  // namespace
}  // namespace inferscale
