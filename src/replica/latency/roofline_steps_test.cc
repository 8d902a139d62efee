// Mixed steps, chunks, sliding windows and verifications: by hand, and where a line is promised
// against every step by itself. Hardware and model figures: roofline_test_support.h.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "replica/latency/roofline_test_support.h"

namespace inferscale {
namespace {

constexpr double kKv = 131'072.0;    // bytes of a token's K and V in Llama-3.1-8B
constexpr double kPair = 524'288.0;  // FLOPs of a pair there

// A chunk of n prompt tokens after c that are in the cache.
StepShape chunk(std::int64_t c, std::int64_t n) {
  const auto before = static_cast<double>(c);
  const auto tokens = static_cast<double>(n);
  return {.prefill_sequences = 1,
          .prefill_tokens = n,
          .prefill_pairs = tokens * before + tokens * (tokens + 1) / 2,
          .prefill_context = c};
}

StepShape together(const StepShape& decode, const StepShape& prefill) {
  StepShape both = prefill;
  both.decode_sequences = decode.decode_sequences;
  both.decode_context = decode.decode_context;
  return both;
}

TEST(RooflineSteps, AChunkReadsWhatIsCached) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const double plain = cost_ns(llama, memory_only(), {}, chunk(0, 512));
  EXPECT_NEAR(cost_ns(llama, memory_only(), {}, chunk(3000, 512)) - plain,
              3000 * kKv / kMemory * 1e9, 1e-3);
}

TEST(RooflineSteps, ChunksOfAPromptAreAsMuchArithmeticAsThePrompt) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const double whole = cost_ns(llama, compute_only(), {}, prompts(1, 4096));
  double sum = 0;
  for (int i = 0; i < 8; ++i) sum += cost_ns(llama, compute_only(), {}, chunk(512 * i, 512));
  // But for the output projection, which each chunk's step runs for its last token.
  EXPECT_NEAR(sum - whole, 7 * 1'050'673'152.0 / kCompute * 1e9, 1e-9 * whole);
}

// A model without scales takes a way of its own; a scale on what a step has nothing of takes the
// general one, and must not move a bit.
TEST(RooflineSteps, ScalesOfWhatIsNotThereMoveNoBit) {
  const auto model = [](double prefill, double decode) {
    return make_roofline(model_named("llama-3.1-8b"), h100(), {},
                         {.prefill = prefill, .decode = decode});
  };
  const auto expect_same_bits = [](const StepCost& actual, const StepCost& expected) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(actual.first_ns),
              std::bit_cast<std::uint64_t>(expected.first_ns));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(actual.growth_ns),
              std::bit_cast<std::uint64_t>(expected.growth_ns));
    EXPECT_EQ(actual.valid_steps, expected.valid_steps);
  };
  const auto plain = model(1, 1);
  const auto scaled_prefill = model(2, 1);
  const auto scaled_decode = model(1, 2);
  RandomStream random(11, "shapes");
  for (int i = 0; i < 2'000; ++i) {
    const auto sequences = 1 + static_cast<std::int64_t>(random.below(300));
    const auto context = sequences * static_cast<std::int64_t>(1 + random.below(20'000));
    const StepShape decode{.decode_sequences = sequences, .decode_context = context};
    expect_same_bits(plain->cost(decode), scaled_prefill->cost(decode));
    const StepShape prefill = chunk(static_cast<std::int64_t>(random.below(10'000)),
                                    static_cast<std::int64_t>(1 + random.below(10'000)));
    expect_same_bits(plain->cost(prefill), scaled_decode->cost(prefill));
  }
}

TEST(RooflineSteps, AMixedStepAddsItsParts) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const StepShape decode{.decode_sequences = 32, .decode_context = 32'000};
  const StepShape mixed = together(decode, chunk(1000, 480));
  // 512 tokens, 33 of them sampled; 32,000 + 480 x 1000 + 480 x 481 / 2 pairs.
  const double flops =
      512 * 2 * 6'979'321'856.0 + 33 * 1'050'673'152.0 + (32'000 + 480'000 + 115'440) * kPair;
  expect_near(cost_ns(llama, compute_only(), {}, mixed), flops / kCompute * 1e9);
  const double bytes = 15'009'316'864.0 + (32'000 + 1000 + 512) * kKv;
  expect_near(cost_ns(llama, memory_only(), {}, mixed), bytes / kMemory * 1e9);
}

TEST(RooflineSteps, AMixedStepCostsNoMoreThanItsPartsApartAndNoLessThanItsDecodes) {
  RandomStream random(7, "mixed steps");
  const std::vector<DeploymentShape> shapes = {
      {}, {.tensor = 2}, {.tensor = 4, .pipeline = 4}, {.expert = 8, .data = 8}};
  for (const char* name : {"llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b"}) {
    for (DeploymentShape shape : shapes) {
      const ModelSpec model = model_named(name);
      if (!model.moe) shape.expert = 1;
      const auto roofline = make_roofline(model, h100(), shape, {.prefill = 1.3, .decode = 0.8});
      for (int i = 0; i < 300; ++i) {
        const auto sequences = static_cast<std::int64_t>(1 + random.below(200));
        const auto context = static_cast<std::int64_t>(1 + random.below(5000));
        const StepShape decode{.decode_sequences = sequences,
                               .decode_context = sequences * context};
        const StepShape prefill = chunk(static_cast<std::int64_t>(random.below(5000)),
                                        static_cast<std::int64_t>(1 + random.below(4000)));
        const double alone = roofline->cost(decode).first_ns;
        const double prompt = roofline->cost(prefill).first_ns;
        const double both = roofline->cost(together(decode, prefill)).first_ns;
        ASSERT_LE(both, (alone + prompt) * (1 + 1e-12)) << name;
        ASSERT_GE(both, alone) << name;
      }
    }
  }
}

// gpt-oss-20b: 24 layers, of which 12 have a window of 128 tokens; 64 heads and 8 KV heads of 64. A
// pair takes 4 x 64 x 64 = 16,384 FLOPs a layer, a token's K and V 2 x 8 x 64 x 2 = 2048 bytes.
TEST(RooflineSteps, WindowedLayersAttendToTheirWindow) {
  const ModelSpec model = model_named("gpt-oss-20b");
  // One sequence of 1000 tokens, and two that are still within the window, at 100.
  const StepShape step{.decode_sequences = 3,
                       .decode_context = 1200,
                       .decode_window_context = 128 + 200,
                       .decode_growing = 2};
  const StepShape nothing{.decode_sequences = 3};
  const auto memory = make_roofline(model, memory_only(), {}, {});
  const double bytes = 12 * 2048.0 * (1200 + 328);
  EXPECT_NEAR(memory->cost(step).first_ns - memory->cost(nothing).first_ns, bytes / kMemory * 1e9,
              1e-3);
  expect_near(memory->cost(step).growth_ns, 12 * 2048.0 * (3 + 2) / kMemory * 1e9);
  const auto compute = make_roofline(model, compute_only(), {}, {});
  const double flops = 12 * 16'384.0 * (1200 + 328);
  EXPECT_NEAR(compute->cost(step).first_ns - compute->cost(nothing).first_ns,
              flops / kCompute * 1e9, 1e-3);
  expect_near(compute->cost(step).growth_ns, 12 * 16'384.0 * (3 + 2) / kCompute * 1e9);
}

TEST(RooflineSteps, AChunkReadsAtMostAWindowOfWhatIsCached) {
  const ModelSpec model = model_named("gpt-oss-20b");
  const double plain = cost_ns(model, memory_only(), {}, chunk(0, 64));
  EXPECT_NEAR(cost_ns(model, memory_only(), {}, chunk(1000, 64)) - plain,
              12 * 2048.0 * (1000 + 128) / kMemory * 1e9, 1e-3);
  EXPECT_NEAR(cost_ns(model, memory_only(), {}, chunk(100, 64)) - plain,
              12 * 2048.0 * (100 + 100) / kMemory * 1e9, 1e-3);
}

// A batch of sequences with a window: what the step that each sequence is in attends to.
struct WindowedBatch {
  std::vector<std::int64_t> contexts;
  std::int64_t window;

  StepShape shape() const {
    StepShape step;
    for (const std::int64_t context : contexts) {
      ++step.decode_sequences;
      step.decode_context += context;
      step.decode_window_context += std::min(context, window);
      if (context < window) ++step.decode_growing;
    }
    return step;
  }
  void grow() {
    for (std::int64_t& context : contexts) ++context;
  }
  std::int64_t steps_until_a_window_is_full() const {
    std::int64_t steps = 1'000'000;
    for (const std::int64_t context : contexts) {
      if (context < window) steps = std::min(steps, window - context);
    }
    return steps;
  }
};

TEST(RooflineSteps, ALineHoldsUntilASequenceOutgrowsItsWindow) {
  RandomStream random(11, "windows");
  const ModelSpec model = model_named("gpt-oss-20b");
  int kinks = 0;
  // Arithmetic and traffic are near each other here, so that lines cross.
  for (double efficiency = 0.04; efficiency > 0.01; efficiency *= 0.99) {
    HardwareSpec hardware = h100();
    hardware.compute_efficiency = efficiency;
    const auto roofline = make_roofline(model, hardware, {.pipeline = 2}, {});
    WindowedBatch batch{.contexts = {}, .window = 128};
    for (int i = 0; i < 40; ++i) {
      batch.contexts.push_back(1 + static_cast<std::int64_t>(random.below(300)));
    }
    for (int jumps = 0; jumps < 30; ++jumps) {
      const StepCost line = roofline->cost(batch.shape());
      const std::int64_t steps =
          std::min({line.valid_steps, batch.steps_until_a_window_is_full(), std::int64_t{200}});
      if (steps == line.valid_steps) ++kinks;
      for (std::int64_t k = 0; k < steps; ++k, batch.grow()) {
        const double expected = line.first_ns + line.growth_ns * static_cast<double>(k);
        ASSERT_NEAR(roofline->cost(batch.shape()).first_ns, expected, 1e-11 * expected);
      }
    }
  }
  EXPECT_GE(kinks, 1);
}

TEST(RooflineSteps, AVerificationComputesMoreTokensAndReadsTheCacheOnce) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  // Two sequences of 1000 with 4 tokens each: 8 tokens, all sampled; each sequence's attend to
  // 1000, 1001, 1002 and 1003.
  const StepShape step{.decode_sequences = 2, .decode_context = 2000, .decode_tokens = 4};
  const double flops =
      8 * 2 * 6'979'321'856.0 + 8 * 1'050'673'152.0 + 2 * (1000 + 1001 + 1002 + 1003) * kPair;
  expect_near(cost_ns(llama, compute_only(), {}, step), flops / kCompute * 1e9);
  const double bytes = 15'009'316'864.0 + (2000 + 8) * kKv;
  expect_near(cost_ns(llama, memory_only(), {}, step), bytes / kMemory * 1e9);
  const auto compute = make_roofline(llama, compute_only(), {}, {});
  expect_near(compute->cost(step).growth_ns, 2 * 4 * kPair / kCompute * 1e9);
}

}  // namespace
}  // namespace inferscale
