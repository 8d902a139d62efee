// Exact where the latency model is a straight line; against the model itself where it is not.

#include "sim/service_model_of.h"

#include <gtest/gtest.h>

#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "replica/latency/linear.h"
#include "replica/latency/lone_service.h"
#include "replica/latency/roofline.h"

namespace inferscale {
namespace {

ReplicaOptions replica_of(std::int64_t most_sequences, TokenCount chunk) {
  ReplicaOptions options;
  options.max_num_seqs = most_sequences;
  options.max_num_batched_tokens = chunk;
  options.kv_blocks = 1000;
  return options;
}

TEST(ServiceModelOf, GivesBackTheCoefficientsOfAStraightLine) {
  // Frontiers in Computer Science 8 (2026), 10.3389/fcomp.2026.1873627: a prompt of one chunk takes
  // 47.96 ms, of two 95.92 ms.
  const auto latency =
      make_linear({.step_us = 7000, .prefill_us_per_token = 80, .decode_us_per_sequence = 250}, {});
  const ServiceModel model = service_model_of(*latency, replica_of(256, 512), 4);
  EXPECT_NEAR(model.step_ns, 7e6, 1);
  EXPECT_NEAR(model.prefill_ns_per_token, 80e3, 1e-2);
  EXPECT_NEAR(model.decode_ns_per_sequence, 250e3, 1e-2);
  EXPECT_NEAR(model.prefill_ns(512), 47.96e6, 20);
  EXPECT_NEAR(model.prefill_ns(1024), 95.92e6, 40);
  EXPECT_EQ(model.chunk_tokens, 512);
  EXPECT_EQ(model.kv_capacity_tokens, 16'000);
  EXPECT_EQ(model.max_num_seqs, 256);
  EXPECT_EQ(model.replicas, 4);
  EXPECT_EQ(model.provenance, ServiceProvenance::kCatalogue);
  EXPECT_EQ(model.confidence, 1);
}

TEST(ServiceModelOf, AttentionToTheTypicalContextIsPartOfTheSlope) {
  const auto latency = make_linear(
      {.step_us = 400, .decode_us_per_sequence = 2, .decode_ns_per_context_token = 5}, {});
  ReplicaOptions options = replica_of(64, 8192);
  EXPECT_NEAR(service_model_of(*latency, options, 1, {.context = 1000}).decode_ns_per_sequence,
              2e3 + 5e3, 1e-6);
  options.max_model_len = 600;  // no sequence is longer
  EXPECT_NEAR(service_model_of(*latency, options, 1, {.context = 1000}).decode_ns_per_sequence,
              2e3 + 3e3, 1e-6);
}

TEST(ServiceModelOf, ABatchOfOneHasASlopeToo) {
  const auto latency = make_linear({.step_us = 400, .decode_us_per_sequence = 2}, {});
  ReplicaOptions options = replica_of(1, 8192);
  EXPECT_NEAR(service_model_of(*latency, options, 1).step_ns, 400e3, 1e-6);
  options = replica_of(64, 8192);
  options.serial = true;
  EXPECT_EQ(service_model_of(*latency, options, 1).max_num_seqs, 1);
}

// Steps that bend upwards: the square of the batch.
class Bent final : public LatencyModel {
 public:
  std::string_view name() const override { return "bent"; }
  StepCost cost(const StepShape& shape) const override {
    const auto n = static_cast<double>(shape.decode_sequences);
    return {.first_ns = n * n + static_cast<double>(shape.prefill_tokens)};
  }
};

TEST(ServiceModelOf, NoCoefficientIsNegative) {
  const ServiceModel model = service_model_of(Bent(), replica_of(16, 512), 1);
  EXPECT_EQ(model.step_ns, 0);
  // Through the origin, over 1, 2, 4, 6, ..., 16: sum n^3 / sum n^2 = 10369 / 817.
  EXPECT_NEAR(model.decode_ns_per_sequence, 10369.0 / 817, 1e-9);
  EXPECT_NEAR(model.prefill_ns_per_token, 1, 1e-9);
}

TEST(ServiceModelOf, IsWithinAFewPercentOfTheRooflineItStandsFor) {
  const Result<ModelSpec> spec = find_model("llama-3.1-8b");
  const Result<HardwareSpec> hardware = find_accelerator("h100-sxm");
  ASSERT_TRUE(spec && hardware);
  const auto latency = make_roofline(*spec, *hardware, {}, {});
  ReplicaOptions options = replica_of(256, 2048);
  options.max_model_len = 8192;
  const ServiceModel model = service_model_of(*latency, options, 1);
  for (const std::int64_t n : {1, 8, 64, 256}) {
    const double truth =
        latency->cost({.decode_sequences = n, .decode_context = n * 1024, .decode_growing = n})
            .first_ns;
    EXPECT_NEAR(model.itl_ns(static_cast<double>(n)), truth, 0.05 * truth) << n;
  }
  const LoneService lone(*latency, 2048, 0);
  for (const TokenCount tokens : {1024, 2048}) {
    const double truth = lone.prefill_ns(0, tokens);
    EXPECT_NEAR(model.prefill_ns(tokens), truth, 0.1 * truth) << tokens;
  }
  // Of four chunks the later ones attend to the earlier ones, which no straight line knows.
  const double truth = lone.prefill_ns(0, 8192);
  EXPECT_LT(model.prefill_ns(8192), truth);
  EXPECT_GT(model.prefill_ns(8192), 0.8 * truth);
}

}  // namespace
}  // namespace inferscale
