// Reference steps by hand, and the pairs of a windowed prompt counted one by one.

#include "replica/latency/service_estimate.h"

#include <gtest/gtest.h>

#include "replica/latency/linear.h"

namespace inferscale {
namespace {

constexpr LinearLatencyOptions kLinear{.step_us = 400,
                                       .prefill_us_per_token = 10,
                                       .decode_us_per_sequence = 2,
                                       .decode_ns_per_context_token = 5};

TEST(ServiceEstimate, IsAFullPrefillStepAndHalfABatch) {
  const auto model = make_linear(kLinear, {});
  // Eight prompts of 1000 in a step of at most 8192; 50 sequences of 1000.
  const ServiceEstimate estimate = service_estimate(
      *model, {.max_num_seqs = 99, .max_num_batched_tokens = 8192, .typical_context = 1000});
  EXPECT_DOUBLE_EQ(estimate.prefill_ns_per_token, (400e3 + 8000 * 10e3) / 8000);
  EXPECT_DOUBLE_EQ(estimate.decode_ns_per_token, 400e3 + 50 * 2e3 + 50'000 * 5);
}

TEST(ServiceEstimate, PromptsAreCutToTheStepAndFewerThanTheBatch) {
  const auto model = make_linear(kLinear, {});
  const ServiceEstimate cut = service_estimate(
      *model, {.max_num_seqs = 8, .max_num_batched_tokens = 512, .typical_context = 3000});
  EXPECT_DOUBLE_EQ(cut.prefill_ns_per_token, (400e3 + 512 * 10e3) / 512);
  const ServiceEstimate few = service_estimate(
      *model, {.max_num_seqs = 2, .max_num_batched_tokens = 8192, .typical_context = 100});
  EXPECT_DOUBLE_EQ(few.prefill_ns_per_token, (400e3 + 200 * 10e3) / 200);
}

// Keeps the shapes that it was asked about.
class Recorder final : public LatencyModel {
 public:
  std::string_view name() const override { return "recorder"; }
  StepCost cost(const StepShape& shape) const override {
    (shape.prefill_tokens > 0 ? prefill : decode) = shape;
    return {.first_ns = 1};
  }
  mutable StepShape prefill;
  mutable StepShape decode;
};

TEST(ServiceEstimate, StepsAreThoseOfTheTypicalLengthWithinTheWindow) {
  const Recorder recorder;
  service_estimate(
      recorder,
      {.max_num_seqs = 4, .max_num_batched_tokens = 1000, .typical_context = 300, .window = 128});
  double pairs = 0;
  double window_pairs = 0;
  for (int token = 1; token <= 300; ++token) {
    pairs += token;
    window_pairs += std::min(token, 128);
  }
  EXPECT_EQ(recorder.prefill.prefill_sequences, 3);
  EXPECT_EQ(recorder.prefill.prefill_tokens, 900);
  EXPECT_EQ(recorder.prefill.prefill_pairs, 3 * pairs);
  EXPECT_EQ(recorder.prefill.prefill_window_pairs, 3 * window_pairs);
  EXPECT_EQ(recorder.decode.decode_sequences, 2);
  EXPECT_EQ(recorder.decode.decode_context, 600);
  EXPECT_EQ(recorder.decode.decode_window_context, 256);
  EXPECT_EQ(recorder.decode.decode_growing, 0);
}

}  // namespace
}  // namespace inferscale
