// Step costs against arithmetic done by hand, and the kink between memory and compute against
// every step costed by itself.
//
// The hardware and the figures of Llama-3.1-8B are in roofline_test_support.h.

#include "replica/latency/roofline.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "replica/latency/roofline_test_support.h"

namespace inferscale {
namespace {

TEST(Roofline, Llama8BDecodesOneSequence) {
  const StepShape step{.decode_sequences = 1, .decode_context = 1000};
  const auto model = make_roofline(model_named("llama-3.1-8b"), h100(), {}, {});
  // 1000 tokens of context are read and one is written. Compute would take 0.026 ms.
  const double bytes = 15'009'316'864.0 + 1001.0 * 131'072.0;  // 5.649 ms
  expect_near(model->cost(step).first_ns, bytes / kMemory * 1e9 + 1e6 + 5e3);
  expect_near(model->cost(step).growth_ns, 131'072 / kMemory * 1e9);  // 49 ns a token
}

TEST(Roofline, Llama8BDecodes64Sequences) {
  const StepShape step{.decode_sequences = 64, .decode_context = 64'000};
  const auto model = make_roofline(model_named("llama-3.1-8b"), h100(), {}, {});
  // FLOPs: 64 x 2 x 7,504,658,432 + 64,000 x 524,288 = 994,150,711,296, which are 1.675 ms.
  const double bytes = 15'009'316'864.0 + 64'064.0 * 131'072.0;  // 8.734 ms
  expect_near(model->cost(step).first_ns, bytes / kMemory * 1e9 + 1e6 + 64 * 5e3);
  expect_near(model->cost(step).growth_ns, 64 * 131'072 / kMemory * 1e9);
  const double flops = cost_ns(model_named("llama-3.1-8b"), compute_only(), {}, step);
  expect_near(flops, 994'150'711'296.0 / kCompute * 1e9);
}

TEST(Roofline, Llama8BPrefillsAPromptOf2048) {
  // Dense: 2048 x 2 x 6,979,321,856 = 28,587,302,322,176; output: 2 x 525,336,576 for one token;
  // attention: 2048 x 2049 / 2 = 2,098,176 pairs x 524,288 = 1,100,048,498,688.
  const double flops = 28'587'302'322'176.0 + 1'050'673'152.0 + 1'100'048'498'688.0;  // 50.01 ms
  const double expected = flops / kCompute * 1e9 + 1e6 + 5e3;
  const auto model = make_roofline(model_named("llama-3.1-8b"), h100(), {}, {});
  expect_near(model->cost(prompts(1, 2048)).first_ns, expected);
  // Two prompts of 1024 are as many tokens but fewer pairs: 2 x 524,800.
  const double two = 28'587'302'322'176.0 + 2 * 1'050'673'152.0 + 1'049'600.0 * 524'288.0;
  expect_near(model->cost(prompts(2, 1024)).first_ns, two / kCompute * 1e9 + 1e6 + 2 * 5e3);
}

TEST(Roofline, EightBitWeightsHalveTheirTrafficButNotTheOutputProjection) {
  const StepShape step{.decode_sequences = 1, .decode_context = 1};
  const ModelSpec llama = model_named("llama-3.1-8b");
  // 6,979,321,856 x 1 + 525,336,576 x 2 bytes; two tokens of KV at one byte a number.
  const double bytes = 6'979'321'856.0 + 1'050'673'152.0 + 2 * 65'536.0;
  const DeploymentShape shape{.weight_bits = 8, .kv_bits = 8};
  expect_near(cost_ns(llama, memory_only(), shape, step), bytes / kMemory * 1e9);
  // Arithmetic at the 8-bit rate only where the shape says so, and then only of the layers'
  // products: 100 x 2 x 6,979,321,856 FLOPs, beside the output's and 5050 pairs of attention.
  const StepShape prompt = prompts(1, 100);
  const double products = 1'395'864'371'200.0;
  const double others = 1'050'673'152.0 + 5050 * 524'288.0;
  expect_near(cost_ns(llama, compute_only(), shape, prompt), (products + others) / kCompute * 1e9);
  const double kCompute8 = 1978.9e12 * 0.6;
  expect_near(cost_ns(llama, compute_only(), {.weight_bits = 8, .compute_8bit = true}, prompt),
              (products / kCompute8 + others / kCompute) * 1e9);
}

TEST(Roofline, ScalesMultiplyTheWholeStep) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const auto plain = make_roofline(llama, h100(), {}, {});
  const auto scaled = make_roofline(llama, h100(), {}, {.prefill = 2, .decode = 3});
  const StepShape decode{.decode_sequences = 4, .decode_context = 4000};
  expect_near(scaled->cost(decode).first_ns, 3 * plain->cost(decode).first_ns);
  expect_near(scaled->cost(decode).growth_ns, 3 * plain->cost(decode).growth_ns);
  expect_near(scaled->cost(prompts(1, 99)).first_ns, 2 * plain->cost(prompts(1, 99)).first_ns);
}

// Bytes that a rank sends to sum `bytes` over a ring, sent chunk by chunk: each rank passes a
// chunk on in every round, first until the sums are complete, then until everybody has them.
double ring_all_reduce_bytes(double bytes, int ranks) {
  double sent = 0;
  for (int round = 0; round < ranks - 1; ++round) sent += bytes / ranks;  // reduce-scatter
  for (int round = 0; round < ranks - 1; ++round) sent += bytes / ranks;  // all-gather
  return sent;
}

TEST(Roofline, TensorParallelismAddsTwoAllReducesALayer) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  HardwareSpec no_links = h100();
  no_links.link_bandwidth = 1e40;
  no_links.link_latency_s = 0;
  for (const int ranks : {2, 4, 8}) {
    const DeploymentShape shape{.tensor = ranks};
    for (const StepShape& step :
         {StepShape{.decode_sequences = 64, .decode_context = 64'000}, prompts(3, 500)}) {
      const auto tokens = static_cast<double>(step.decode_sequences + step.prefill_tokens);
      const double one = ring_all_reduce_bytes(tokens * 4096 * 2, ranks) / 300e9 + 8e-6;
      const double links =
          cost_ns(llama, h100(), shape, step) - cost_ns(llama, no_links, shape, step);
      EXPECT_NEAR(links, 2 * 32 * one * 1e9, 1e-9 * links) << ranks << " ranks";
    }
  }
}

TEST(Roofline, TensorParallelismSharesWorkAndRepeatsScarceKvHeads) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  const StepShape step{.decode_sequences = 2, .decode_context = 98};
  HardwareSpec memory = memory_only();
  memory.link_bandwidth = 1e40;
  memory.link_latency_s = 0;
  for (const int ranks : {1, 2, 4, 8, 16}) {
    // Eight KV heads: sixteen ranks keep one each, so every head is there twice.
    const double copies = ranks == 16 ? 2 : 1;
    const double bytes = 15'009'316'864.0 + 100.0 * 131'072.0 * copies;
    const double expected = bytes / ranks / kMemory * 1e9;
    EXPECT_NEAR(cost_ns(llama, memory, {.tensor = ranks}, step), expected, 1e-9 * expected)
        << ranks;
  }
}

TEST(Roofline, MlaAttendsInTheCompressedSpace) {
  // Made up, small: 2 layers, 4 heads, rank 16, rope 8.
  ModelSpec model{
      .name = "tiny",
      .layers = 2,
      .hidden_dim = 32,
      .heads = 4,
      .kv_heads = 4,
      .head_dim = 8,
      .ffn_dim = 64,
      .vocab = 100,
      .mla = MlaSpec{
          .kv_lora_rank = 16, .qk_rope_head_dim = 8, .qk_nope_head_dim = 8, .v_head_dim = 8}};
  // One more token of context: 2 layers x 2 x 4 heads x (2 x 16 + 8) FLOPs, and 2 layers x (16 + 8)
  // numbers of 2 bytes to read, kept whole on each rank.
  const StepShape step{.decode_sequences = 1, .decode_context = 50};
  const auto growth = [&](HardwareSpec hardware, std::int64_t ranks) {
    return make_roofline(model, hardware, {.tensor = ranks}, {})->cost(step).growth_ns;
  };
  expect_near(growth(compute_only(), 1), 640 / kCompute * 1e9);
  expect_near(growth(memory_only(), 1), 96 / kMemory * 1e9);
  expect_near(growth(memory_only(), 4), 96 / kMemory * 1e9);
}

// Mixtral-8x7B: 32 layers, hidden 4096, experts of 3 x 4096 x 14336 = 176,160,768 weights.
constexpr double kMixtralExpertBytes = 32.0 * 176'160'768.0 * 2.0;  // one expert of every layer

// Bytes of routed experts in a step of `tokens`, by what the step costs beyond attention (32 x
// 41,943,040 weights), output (32000 x 4096) and KV (131,072 a token).
double mixtral_experts_read(std::int64_t tokens) {
  const StepShape step{.decode_sequences = tokens, .decode_context = 10 * tokens};
  const double ns = cost_ns(model_named("mixtral-8x7b"), memory_only(), {}, step);
  const double rest =
      2.0 * (1'342'177'280.0 + 131'072'000.0) + 131'072.0 * 11.0 * static_cast<double>(tokens);
  return (ns * 1e-9 * kMemory - rest) / kMixtralExpertBytes;
}

TEST(Roofline, MixtralReadsTheExpertsThatItsTokensVisit) {
  for (int tokens = 1; tokens <= 4; ++tokens) {
    EXPECT_NEAR(mixtral_experts_read(tokens), distinct_experts_of_8(tokens), 1e-9) << tokens;
  }
}

TEST(Roofline, ExpertsOfLargerBatchesAgreeWithDrawnRoutes) {
  RandomStream random(1, "routes");
  constexpr int kDraws = 20'000;
  for (const int tokens : {6, 12, 24}) {
    double sum = 0;
    double squares = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::uint32_t set = 0;
      for (int token = 0; token < tokens; ++token) {
        const std::uint64_t first = random.below(8);
        std::uint64_t second = random.below(7);
        if (second >= first) ++second;
        set |= 1U << first | 1U << second;
      }
      sum += std::popcount(set);
      squares += std::popcount(set) * std::popcount(set);
    }
    const double mean = sum / kDraws;
    const double deviation = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mixtral_experts_read(tokens), mean, 4 * deviation + 1e-9) << tokens;
  }
}

TEST(Roofline, MixtralComputesOnlyTheExpertsThatATokenVisits) {
  // 2 x (32 x (41,943,040 + 2 x 176,160,768) + 131,072,000) FLOPs, 4 x 32 x 32 x 128 a pair.
  const double flops = 2.0 * (32.0 * 394'264'576.0 + 131'072'000.0) + 524'288.0 * 10.0;
  const StepShape step{.decode_sequences = 1, .decode_context = 10};
  expect_near(cost_ns(model_named("mixtral-8x7b"), compute_only(), {}, step),
              flops / kCompute * 1e9);
}

// For how many steps the line of the first equals what each step costs by itself, up to `most`.
std::int64_t steps_on_the_line(const LatencyModel& model, const StepShape& first,
                               std::int64_t most) {
  const StepCost line = model.cost(first);
  StepShape step = first;
  for (std::int64_t k = 0; k < most; ++k) {
    const double expected = line.first_ns + line.growth_ns * static_cast<double>(k);
    if (std::fabs(model.cost(step).first_ns - expected) > 1e-11 * expected) return k;
    step.decode_context += step.decode_sequences;
  }
  return most;
}

// Counts the shapes whose line ends, so that the test is seen to have met both directions.
struct Kinks {
  int compute_takes_over = 0;
  int memory_takes_over = 0;
};

void check_lines(const ModelSpec& model, double compute_efficiency, Kinks& kinks) {
  HardwareSpec hardware = h100();
  hardware.compute_efficiency = compute_efficiency;
  const auto roofline = make_roofline(model, hardware, {}, {.decode = 1.1});
  constexpr std::int64_t kMost = 3000;
  for (const std::int64_t sequences : {1, 2, 3, 7, 20, 64, 150, 256}) {
    const StepShape first{.decode_sequences = sequences, .decode_context = 40 * sequences};
    const StepCost cost = roofline->cost(first);
    EXPECT_EQ(steps_on_the_line(*roofline, first, kMost), std::min(kMost, cost.valid_steps))
        << model.name << ", " << sequences << " sequences, efficiency " << compute_efficiency;
    if (cost.valid_steps >= kMost) continue;
    StepShape after = first;
    after.decode_context += cost.valid_steps * sequences;
    const double bytes_growth = roofline->cost(after).growth_ns;
    const double memory_growth =
        1.1 * static_cast<double>(sequences * model.kv_elements_per_token()) * 2 / kMemory * 1e9;
    const bool memory_leads = std::fabs(bytes_growth / memory_growth - 1) < 1e-9;
    ++(memory_leads ? kinks.memory_takes_over : kinks.compute_takes_over);
  }
}

TEST(Roofline, ALineHoldsForExactlyTheStepsThatItSays) {
  Kinks kinks;
  for (const char* name : {"llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"}) {
    const ModelSpec model = model_named(name);
    for (double efficiency = 1.0; efficiency > 1e-4; efficiency *= 0.9) {
      check_lines(model, efficiency, kinks);
    }
  }
  EXPECT_GE(kinks.compute_takes_over, 20);
  EXPECT_GE(kinks.memory_takes_over, 20);
}

}  // namespace
}  // namespace inferscale
