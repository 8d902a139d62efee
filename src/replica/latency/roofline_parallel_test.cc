// Pipelines and spread experts: by hand, and pipelines against a schedule played out micro-batch by
// micro-batch. Hardware and model figures: roofline_test_support.h.

#include <algorithm>
#include <vector>

#include "replica/latency/roofline_test_support.h"

namespace inferscale {
namespace {

constexpr double kWeights = 15'009'316'864.0;  // bytes of Llama-3.1-8B that a step reads
constexpr double kKv = 131'072.0;              // bytes of one token

// The end of the last micro-batch when each stage takes 1 for each of them, one after the other,
// and `rounds` steps follow one another: a micro-batch begins its next step when it has left the
// last stage of the one before.
double pipeline_end(int stages, int batches, int rounds) {
  std::vector<double> stage_free(static_cast<std::size_t>(stages), 0.0);
  std::vector<double> batch_ready(static_cast<std::size_t>(batches), 0.0);
  for (int round = 0; round < rounds; ++round) {
    for (double& ready : batch_ready) {
      for (double& free : stage_free) ready = free = std::max(ready, free) + 1;
    }
  }
  return *std::ranges::max_element(batch_ready);
}

TEST(RooflinePipeline, StepsInARowTakeWhatASchedulePlayedOutTakes) {
  // Compute only, and 32 layers over as many stages as divide them: m micro-batches have T/m
  // tokens.
  ModelSpec model = model_named("llama-3.1-8b");
  model.vocab = 0;
  const HardwareSpec hardware = without_links(compute_only());
  for (const int stages : {2, 4, 8}) {
    for (const int sequences : {1, 2, 4, 8, 64}) {
      const StepShape step{.decode_sequences = sequences};
      const double whole = cost_ns(model, hardware, {}, step);
      const int batches = std::min(stages, sequences);
      const double stage = whole / stages / batches;
      const double period = pipeline_end(stages, batches, 11) - pipeline_end(stages, batches, 10);
      expect_near(cost_ns(model, hardware, {.pipeline = stages}, step), period * stage);
    }
  }
}

TEST(RooflinePipeline, APromptFillsThePipeline) {
  ModelSpec model = model_named("llama-3.1-8b");
  model.vocab = 0;
  const HardwareSpec hardware = without_links(compute_only());
  for (const int stages : {2, 4, 8}) {
    const double whole = cost_ns(model, hardware, {}, prompts(1, 2048));
    const double stage = whole / stages / stages;
    expect_near(cost_ns(model, hardware, {.pipeline = stages}, prompts(1, 2048)),
                pipeline_end(stages, stages, 1) * stage);
  }
}

TEST(RooflinePipeline, EachMicroBatchReadsTheWeightsAgain) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const HardwareSpec hardware = without_links(memory_only());
  // Four stages read a quarter of the weights four times; each KV cache is read by one of them.
  const StepShape many{.decode_sequences = 64, .decode_context = 64'000};
  expect_near(cost_ns(llama, hardware, {.pipeline = 4}, many),
              (kWeights + 64'064.0 * kKv / 4) / kMemory * 1e9);
  // One sequence is in one stage at a time.
  const StepShape one{.decode_sequences = 1, .decode_context = 1000};
  expect_near(cost_ns(llama, hardware, {.pipeline = 4}, one),
              (kWeights + 1001.0 * kKv) / kMemory * 1e9);
  const auto growth = make_roofline(llama, hardware, {.pipeline = 4}, {})->cost(many).growth_ns;
  expect_near(growth, 64 * kKv / 4 / kMemory * 1e9);
}

TEST(RooflinePipeline, UnevenStagesWaitForTheFullest) {
  // 32 layers over 3 stages of 11: the layers count as 33, the output projection as it is.
  const HardwareSpec hardware = without_links(compute_only());
  const StepShape step{.decode_sequences = 3, .decode_context = 3};
  const double layers = 3 * 2 * 6'979'321'856.0 + 3 * 524'288.0;
  const double flops = layers * 33 / 32 + 3 * 1'050'673'152.0;
  expect_near(cost_ns(model_named("llama-3.1-8b"), hardware, {.pipeline = 3}, step),
              flops / 3 / kCompute * 1e9);
}

TEST(RooflinePipeline, HopsCarryAMicroBatch) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const StepShape step{.decode_sequences = 10, .decode_context = 1000};
  const double hops = cost_ns(llama, h100(), {.pipeline = 4}, step) -
                      cost_ns(llama, without_links(h100()), {.pipeline = 4}, step);
  // Ten sequences in four micro-batches of three: three hops of 3 x 8192 bytes, and the way back.
  EXPECT_NEAR(hops, 3 * (8e3 + 3 * 8192.0 / 300) + 8e3, 1e-3);
}

TEST(RooflinePipeline, MoreWorkIsNeverFaster) {
  const auto model = make_roofline(model_named("mixtral-8x7b"), h100(), {.pipeline = 4}, {});
  for (const std::int64_t tokens : {1, 3, 4, 100, 2048}) {
    StepShape step = prompts(1, tokens);
    double before = model->cost(step).first_ns;
    for (std::int64_t sequences = 1; sequences < 40; ++sequences) {
      step.decode_sequences = sequences;
      step.decode_context = 500 * sequences;
      const double now = model->cost(step).first_ns;
      EXPECT_GE(now, before) << tokens << " tokens, " << sequences << " sequences";
      before = now;
    }
  }
}

// One expert in every layer of Mixtral-8x7B; attention, output projection and KV of a token.
constexpr double kExpert = 32.0 * 176'160'768.0 * 2.0;
constexpr double kRest = 2.0 * (1'342'177'280.0 + 131'072'000.0);

TEST(RooflineExperts, AnAcceleratorReadsItsExpertsThatAnyRankVisits) {
  const ModelSpec mixtral = model_named("mixtral-8x7b");
  const HardwareSpec hardware = without_links(memory_only());
  const StepShape step{.decode_sequences = 1, .decode_context = 10};
  for (const int ranks : {2, 4}) {
    const double experts = distinct_experts_of_8(ranks) / ranks;
    const double bytes = kRest + 11 * kKv + experts * kExpert;
    const double expected = bytes / kMemory * 1e9;
    EXPECT_NEAR(cost_ns(mixtral, hardware, {.expert = ranks, .data = ranks}, step), expected,
                1e-11 * expected);
  }
  // Eight over three: the fullest accelerator has three.
  const double expected =
      (kRest + 11 * kKv + distinct_experts_of_8(3) * 3 / 8 * kExpert) / kMemory * 1e9;
  EXPECT_NEAR(cost_ns(mixtral, hardware, {.expert = 3, .data = 3}, step), expected,
              1e-11 * expected);
}

TEST(RooflineExperts, SpreadOrCutOneRanksExpertsAreAsManyBytes) {
  const ModelSpec mixtral = model_named("mixtral-8x7b");
  const HardwareSpec hardware = without_links(memory_only());
  const StepShape step{.decode_sequences = 5, .decode_context = 500};
  expect_near(cost_ns(mixtral, hardware, {.tensor = 4, .expert = 4}, step),
              cost_ns(mixtral, hardware, {.tensor = 4}, step));
}

TEST(RooflineExperts, ArithmeticIsSharedEvenly) {
  const ModelSpec mixtral = model_named("mixtral-8x7b");
  const HardwareSpec hardware = without_links(compute_only());
  // Each rank computes its own attention, and in expectation as many visits as it sends.
  expect_near(cost_ns(mixtral, hardware, {.expert = 4, .data = 4}, prompts(1, 100)),
              cost_ns(mixtral, hardware, {}, prompts(1, 100)));
}

TEST(RooflineExperts, RanksWithExpertsOfTheirOwnAreReplicas) {
  const ModelSpec mixtral = model_named("mixtral-8x7b");
  const StepShape step{.decode_sequences = 5, .decode_context = 500};
  EXPECT_EQ(cost_ns(mixtral, h100(), {.data = 8}, step), cost_ns(mixtral, h100(), {}, step));
}

}  // namespace
}  // namespace inferscale
