// Scales, by hand.

#include "replica/latency/latency_scales.h"

#include <gtest/gtest.h>

#include "replica/latency/linear.h"

namespace inferscale {
namespace {

constexpr LatencyScales kScales{.prefill = 3, .decode = 2};

TEST(LatencyScales, AMixedStepIsItsDecodesAndWhatPromptsAdd) {
  const auto model = make_linear(
      {.step_us = 100, .prefill_us_per_token = 10, .decode_us_per_sequence = 1}, kScales);
  const StepShape mixed{.decode_sequences = 50, .prefill_sequences = 1, .prefill_tokens = 7};
  // The decodes alone take 150 us, the prompt adds 70.
  EXPECT_DOUBLE_EQ(model->cost(mixed).first_ns, 1e3 * (2 * 150 + 3 * 70));
  EXPECT_DOUBLE_EQ(model->cost(decode_part(mixed)).first_ns, 1e3 * 2 * 150);
  EXPECT_DOUBLE_EQ(model->cost(prompt_part(mixed)).first_ns, 1e3 * 3 * 170);
}

TEST(LatencyScales, NoLineGoesThroughStepsWithPrompts) {
  const StepShape mixed{.decode_sequences = 5, .prefill_sequences = 1, .prefill_tokens = 7};
  const StepCost cost = scaled({}, mixed, {.first_ns = 1000, .growth_ns = 10}, 0);
  EXPECT_EQ(cost.first_ns, 1000);
  EXPECT_EQ(cost.growth_ns, 0);
  EXPECT_EQ(cost.valid_steps, 1);
}

TEST(LatencyScales, TheDecodePartIsWantedOnlyWhereScalesDiffer) {
  const StepShape mixed{.decode_sequences = 5, .prefill_tokens = 7};
  EXPECT_TRUE(needs_decode_part(kScales, mixed));
  EXPECT_FALSE(needs_decode_part({.prefill = 2, .decode = 2}, mixed));
  EXPECT_FALSE(needs_decode_part(kScales, {.prefill_tokens = 7}));
  EXPECT_FALSE(needs_decode_part(kScales, {.decode_sequences = 5}));
}

}  // namespace
}  // namespace inferscale
