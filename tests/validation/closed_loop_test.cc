// Loops whose times can be worked out by hand: every step takes a millisecond.

#include "validation/closed_loop.h"

#include <gtest/gtest.h>

#include "replica/latency/linear.h"

namespace inferscale {
namespace {

const LatencyModel& millisecond_steps() {
  static const std::unique_ptr<LatencyModel> model = make_linear({.step_us = 1000}, {});
  return *model;
}

GroupOptions one_replica(std::int64_t max_num_seqs) {
  return {.replica = {.max_num_seqs = max_num_seqs,
                      .max_num_batched_tokens = 512,
                      .layout = {.block_tokens = 8},
                      .kv_blocks = 1000,
                      .max_model_len = 700},
          .latency = &millisecond_steps()};
}

// Five steps: one of prefill, four of decode.
ClosedStage five_steps(std::size_t requests, std::size_t in_flight) {
  ClosedStage stage{.in_flight = in_flight};
  for (std::size_t i = 0; i < requests; ++i) {
    stage.requests.push_back({.prompt_tokens = 100, .output_tokens = 5, .max_tokens = 5});
  }
  return stage;
}

// Served one by one, request i starts at 5 i ms. The first three arrive at 0, each other one when
// the last but two has ended, so it waits for two: mean wait (0 + 5 + 10 + 7 x 10) / 10 = 8.5 ms.
TEST(ClosedLoop, EachThatFinishesBringsTheNext) {
  const FleetOptions fleet{.groups = {one_replica(1)}};
  const auto results = run_closed_loop(fleet, {five_steps(10, 3)});
  ASSERT_TRUE(results) << results.error().to_string();
  const ClosedStageResult& stage = results->front();
  EXPECT_NEAR(stage.ttft_ms_mean, 8.5 + 1, 1e-9);
  EXPECT_NEAR(stage.tpot_ms_mean, 1, 1e-9);
  EXPECT_NEAR(stage.finished_rps, 200, 1e-9);
  EXPECT_NEAR(stage.mean_in_flight, 10 * 13.5 / 50, 1e-9);
  EXPECT_EQ(stage.cached_fraction, 0);
}

// 100 tokens with blocks of 8: the second stage finds 12 whole blocks.
TEST(ClosedLoop, ALaterStageFindsWhatAnEarlierOneLeft) {
  FleetOptions fleet{.groups = {one_replica(4)}};
  fleet.groups[0].replica.prefix_caching = true;
  const ContentPiece prompt{.key = 7, .tokens = 100};
  ClosedStage stage = five_steps(1, 1);
  stage.requests[0].content = &prompt;
  stage.requests[0].content_pieces = 1;
  const auto results = run_closed_loop(fleet, {stage, stage});
  ASSERT_TRUE(results) << results.error().to_string();
  EXPECT_EQ((*results)[0].cached_fraction, 0);
  EXPECT_NEAR((*results)[1].cached_fraction, 0.96, 1e-9);
}

// One by one through a split: prefill 1 ms, link 3 ms, four decode steps.
TEST(ClosedLoop, AClientSeesTheFirstTokenAfterTheHandOver) {
  FleetOptions fleet{.groups = {one_replica(4), one_replica(4)},
                     .split = SplitOptions{.link = {.base_latency = Duration::from_millis(3)},
                                           .kv_bytes_per_token = 1}};
  const auto results = run_closed_loop(fleet, {five_steps(4, 1), five_steps(2, 1)});
  ASSERT_TRUE(results) << results.error().to_string();
  for (const ClosedStageResult& stage : *results) {
    EXPECT_NEAR(stage.hand_over_ms_mean, 3, 1e-3);  // and a few bytes
    EXPECT_NEAR(stage.ttft_ms_mean, 4, 1e-3);
    EXPECT_NEAR(stage.tpot_ms_mean, 1, 1e-3);
    EXPECT_NEAR(stage.finished_rps, 125, 0.1);
  }
}

TEST(ClosedLoop, SaysThatItWasNotFound) {
  const FleetOptions fleet{.groups = {one_replica(1)}};
  const auto results = run_closed_loop(fleet, {five_steps(10, 3)}, 1);
  ASSERT_FALSE(results);
  EXPECT_TRUE(results.error().message.contains("no closed loop after 1 run"));
}

}  // namespace
}  // namespace inferscale
