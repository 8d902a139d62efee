// Speculative decoding against its formula by hand, and its yield against drawn acceptances.

#include "replica/latency/speculative.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "replica/latency/linear.h"
#include "replica/latency/roofline_test_support.h"

namespace inferscale {
namespace {

TEST(Speculative, YieldIsTheGeometricSum) {
  // Leviathan et al.'s formula, (1 - a^(k+1)) / (1 - a).
  for (const double a : {0.0, 0.3, 0.6, 0.8, 0.95}) {
    for (const int k : {1, 3, 7}) {
      const double expected = (1 - std::pow(a, k + 1)) / (1 - a);
      EXPECT_NEAR(expected_tokens({.draft_tokens = k, .acceptance_rate = a}), expected, 1e-12);
    }
  }
  EXPECT_EQ(expected_tokens({.draft_tokens = 5, .acceptance_rate = 1}), 6);
}

TEST(Speculative, YieldAgreesWithDrawnAcceptances) {
  RandomStream random(3, "acceptances");
  constexpr int kDraws = 100'000;
  std::int64_t tokens = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    int accepted = 0;
    while (accepted < 4 && random.below(10) < 7) ++accepted;
    tokens += accepted + 1;
  }
  // The standard deviation of a draw is below 2.
  EXPECT_NEAR(static_cast<double>(tokens) / kDraws,
              expected_tokens({.draft_tokens = 4, .acceptance_rate = 0.7}),
              4 * 2 / std::sqrt(kDraws));
}

constexpr LinearLatencyOptions kLinear{.step_us = 100,
                                       .prefill_us_per_token = 10,
                                       .decode_us_per_sequence = 2,
                                       .decode_ns_per_context_token = 5};
// e = 1 + 0.5 + 0.25 + 0.125 = 1.875.
constexpr SpeculativeOptions kOptions{.draft_tokens = 3, .acceptance_rate = 0.5, .draft_cost = 0.1};

TEST(Speculative, ADecodeStepCostsItsPartOfAVerificationAndItsDrafts) {
  const auto model = make_speculative(make_linear(kLinear, {}), kOptions);
  const StepCost cost = model->cost({.decode_sequences = 10, .decode_context = 4000});
  // Verification: 100 + 2 x 40 + 20 us; plain: 100 + 2 x 10 + 20 us, three tenths of it.
  EXPECT_DOUBLE_EQ(cost.first_ns, (200e3 + 0.3 * 140e3) / 1.875);
  EXPECT_DOUBLE_EQ(cost.growth_ns, 1.3 * 50 / 1.875);
  EXPECT_EQ(model->name(), "linear");
}

TEST(Speculative, PromptsAloneAreAsWithout) {
  const auto plain = make_linear(kLinear, {});
  const auto model = make_speculative(make_linear(kLinear, {}), kOptions);
  const StepShape prompt{.prefill_sequences = 2, .prefill_tokens = 300};
  EXPECT_EQ(model->cost(prompt).first_ns, plain->cost(prompt).first_ns);
  EXPECT_EQ(model->cost(prompt).valid_steps, plain->cost(prompt).valid_steps);
}

TEST(Speculative, PromptsInAMixedStepAreChargedWhole) {
  const auto model = make_speculative(make_linear(kLinear, {}), kOptions);
  const StepShape decode{.decode_sequences = 10, .decode_context = 4000};
  StepShape mixed = decode;
  mixed.prefill_sequences = 1;
  mixed.prefill_tokens = 70;
  EXPECT_DOUBLE_EQ(model->cost(mixed).first_ns, model->cost(decode).first_ns + 700e3);
  EXPECT_EQ(model->cost(mixed).valid_steps, 1);
}

// An engine that takes n verifications, the first with a prompt, gives each sequence e n tokens.
// The replica takes e n steps of one token for that, the first with the prompt: as long in all.
TEST(Speculative, ARunTakesAsLongAsTheEnginesVerifications) {
  const ModelSpec llama = model_named("llama-3.1-8b");
  constexpr SpeculativeOptions kThree{.draft_tokens = 3, .acceptance_rate = 1, .draft_cost = 0};
  const auto target = make_roofline(llama, h100(), {}, {});
  const auto model = make_speculative(make_roofline(llama, h100(), {}, {}), kThree);
  const StepShape verification{.decode_sequences = 8, .decode_context = 8000, .decode_tokens = 4};
  StepShape with_prompt = verification;
  with_prompt.prefill_sequences = 1;
  with_prompt.prefill_tokens = 500;
  with_prompt.prefill_pairs = 125'250;
  const double engine =
      target->cost(with_prompt).first_ns + 4 * target->cost(verification).first_ns;
  StepShape mixed = with_prompt;
  mixed.decode_tokens = 1;
  const StepShape decode{.decode_sequences = 8, .decode_context = 8000};
  const double replica = model->cost(mixed).first_ns + 19 * model->cost(decode).first_ns;
  EXPECT_NEAR(replica, engine, 1e-12 * engine);
}

// gpt-oss-20b: 12 full and 12 windowed layers, 2048 bytes a token and layer.
TEST(Speculative, WindowsGrowOnlyWhereSequencesDo) {
  const ModelSpec model = model_named("gpt-oss-20b");
  const auto speculative = make_speculative(make_roofline(model, memory_only(), {}, {}), kOptions);
  const StepShape step{.decode_sequences = 5,
                       .decode_context = 3000,
                       .decode_window_context = 500,
                       .decode_growing = 2};
  expect_near(speculative->cost(step).growth_ns,
              1.3 * 12 * 2048.0 * (5 + 2) / kMemory * 1e9 / 1.875);
}

TEST(Speculative, TheLineHoldsForTheStepsThatItSays) {
  HardwareSpec hardware = h100();
  int ends = 0;
  for (double efficiency = 1.0; efficiency > 1e-3; efficiency *= 0.8) {
    hardware.compute_efficiency = efficiency;
    const auto model =
        make_speculative(make_roofline(model_named("llama-3.1-8b"), hardware, {}, {}), kOptions);
    for (const std::int64_t sequences : {1, 7, 64, 200}) {
      StepShape step{.decode_sequences = sequences, .decode_context = 40 * sequences};
      const StepCost line = model->cost(step);
      const std::int64_t most = std::min<std::int64_t>(line.valid_steps, 2000);
      if (most < 2000) ++ends;
      for (std::int64_t k = 0; k < most; ++k) {
        const double expected = line.first_ns + line.growth_ns * static_cast<double>(k);
        ASSERT_NEAR(model->cost(step).first_ns, expected, 1e-11 * expected);
        step.decode_context += sequences;
      }
    }
  }
  EXPECT_GE(ends, 3);
}

ConfigNode engine_with(std::initializer_list<std::pair<const char*, const char*>> settings) {
  ConfigNode root = ConfigNode::map({"run.yaml", 1});
  for (const auto& [key, value] : settings) {
    EXPECT_TRUE(root.set_path(key, ConfigNode::scalar(value, false, {"run.yaml", 2}))) << key;
  }
  return root;
}

TEST(Speculative, IsOffUnlessWritten) {
  ConfigSession session;
  const ConfigNode nothing = engine_with({});
  ConfigReader reader(nothing, session);
  EXPECT_FALSE(read_speculative(reader));
  ConfigNode null = engine_with({});
  ASSERT_TRUE(null.set_path("speculative", ConfigNode::null({"run.yaml", 2})));
  ConfigReader null_reader(null, session);
  EXPECT_FALSE(read_speculative(null_reader));
  EXPECT_FALSE(session.failed());
}

TEST(Speculative, IsReadStrictly) {
  ConfigSession session;
  const ConfigNode root =
      engine_with({{"speculative.draft_tokens", "4"}, {"speculative.acceptance_rate", "0.7"}});
  ConfigReader reader(root, session);
  const auto options = read_speculative(reader);
  ASSERT_FALSE(session.failed()) << session.error().to_string();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->draft_tokens, 4);
  EXPECT_EQ(options->acceptance_rate, 0.7);
  EXPECT_EQ(options->draft_cost, 0.05);

  ConfigSession missing;
  const ConfigNode half = engine_with({{"speculative.draft_tokens", "4"}});
  ConfigReader half_reader(half, missing);
  read_speculative(half_reader);
  ASSERT_TRUE(missing.failed());
  EXPECT_EQ(missing.error().to_string(),
            "run.yaml:2: speculative.acceptance_rate: missing: expected a number of at least 0 "
            "and at most 1");
}

}  // namespace
}  // namespace inferscale
