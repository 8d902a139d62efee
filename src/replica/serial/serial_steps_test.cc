// What a serial station tells a decision trace: its stretches, with what they compute.

#include "replica/serial/station_test_support.h"

namespace inferscale {
namespace {

struct Told {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t steps = 0;
  std::int64_t decodes = 0;
  std::int64_t queue_depth = 0;
  BlockCount free = 0;
  HeadWaits head_waits = HeadWaits::kNobody;
  TokenCount chunk_tokens = 0;
  TokenCount chunk_before = 0;
  std::size_t admitted = 0;
  bool operator==(const Told&) const = default;
};

class Listener final : public DecisionObserver {
 public:
  void on_step(const StepReport& report) override {
    Told told{.start = report.start.ns(),
              .end = report.end.ns(),
              .steps = report.steps,
              .decodes = report.decodes,
              .queue_depth = report.queue_depth,
              .free = report.kv_blocks_free,
              .head_waits = report.head_waits,
              .admitted = report.admitted.size()};
    for (const StepReport::Chunk& chunk : report.chunks) {
      told.chunk_tokens += chunk.tokens;
      told.chunk_before += chunk.before;
    }
    steps.push_back(told);
  }
  void on_route(const RouteReport&) override {}
  std::vector<Told> steps;
};

TEST(SerialStepsTest, EveryStretchIsToldWhenItHasEnded) {
  const auto latency = make_linear({.step_us = 1, .prefill_us_per_token = 0.1}, {});
  // Session 0's turn 1 starts at 10000 with 12 of 20 tokens; session 1 waits from 11000 to 12800.
  const PlannedRequests plan(
      {{.calls = {{10, 3, 6'000}, {7, 2}}}, {.begin_ns = 11'000, .calls = {{6, 1}}}});
  ChainDriver driver(plan);
  DurationHistogram gaps;
  Listener listener;
  const auto replica = make_serial_replica(
      {.layout = {.block_tokens = 4},
       .kv_blocks = 10,
       .max_model_len = 1000,
       .retention = KvRetentionOptions{}},
      {.latency = *latency, .sink = driver, .gaps = gaps, .observer = &listener});
  driver.run(*replica);
  const std::vector<Told> expected{
      {.start = 0, .end = 2'000, .steps = 1, .free = 7, .chunk_tokens = 10, .admitted = 1},
      {.start = 2'000, .end = 4'000, .steps = 2, .decodes = 1, .free = 7},
      {.start = 10'000,
       .end = 11'800,
       .steps = 1,
       .free = 4,
       .chunk_tokens = 8,
       .chunk_before = 12,
       .admitted = 1},
      {.start = 11'800,
       .end = 12'800,
       .steps = 1,
       .decodes = 1,
       .queue_depth = 1,
       .free = 4,
       .head_waits = HeadWaits::kPlace},
      {.start = 12'800, .end = 14'400, .steps = 1, .free = 8, .chunk_tokens = 6, .admitted = 1}};
  EXPECT_TRUE(listener.steps == expected);
  ASSERT_EQ(listener.steps.size(), 5U);
}

}  // namespace
}  // namespace inferscale
