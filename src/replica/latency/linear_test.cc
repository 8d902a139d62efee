// The linear model against its formula, worked out by hand.

#include "replica/latency/linear.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

constexpr LinearLatencyOptions kOptions{.step_us = 500,
                                        .prefill_us_per_token = 20,
                                        .decode_us_per_sequence = 30,
                                        .decode_ns_per_context_token = 7};

TEST(Linear, DecodeStep) {
  const auto model = make_linear(kOptions, {});
  // 500 us + 4 x 30 us + 1000 x 7 ns; then 4 more tokens of context a step.
  const StepCost cost = model->cost({.decode_sequences = 4, .decode_context = 1000});
  EXPECT_DOUBLE_EQ(cost.first_ns, 627'000);
  EXPECT_DOUBLE_EQ(cost.growth_ns, 28);
  EXPECT_EQ(cost.valid_steps, std::numeric_limits<std::int64_t>::max());
}

TEST(Linear, PrefillStepCostsByTokenAndNotByPrompt) {
  const auto model = make_linear(kOptions, {});
  const StepCost one = model->cost({.prefill_sequences = 1, .prefill_tokens = 300});
  const StepCost three = model->cost({.prefill_sequences = 3, .prefill_tokens = 300});
  EXPECT_DOUBLE_EQ(one.first_ns, 6'500'000);
  EXPECT_DOUBLE_EQ(three.first_ns, 6'500'000);
}

TEST(Linear, ScalesMultiplyTheWholeStep) {
  const auto model = make_linear(kOptions, {.prefill = 2, .decode = 3});
  const StepCost prefill = model->cost({.prefill_sequences = 1, .prefill_tokens = 300});
  const StepCost decode = model->cost({.decode_sequences = 4, .decode_context = 1000});
  EXPECT_DOUBLE_EQ(prefill.first_ns, 13'000'000);
  EXPECT_DOUBLE_EQ(decode.first_ns, 1'881'000);
  EXPECT_DOUBLE_EQ(decode.growth_ns, 84);
}

TEST(Linear, TheLineIsWhatTheFollowingStepsCost) {
  const auto model = make_linear(kOptions, {});
  const StepCost line = model->cost({.decode_sequences = 5, .decode_context = 777});
  for (std::int64_t later = 1; later < 1000; later += 37) {
    const StepCost step = model->cost({.decode_sequences = 5, .decode_context = 777 + 5 * later});
    EXPECT_DOUBLE_EQ(step.first_ns, line.first_ns + line.growth_ns * static_cast<double>(later));
  }
}

}  // namespace
}  // namespace inferscale
