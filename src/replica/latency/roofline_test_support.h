// What the roofline's tests share: a round piece of hardware and a model's figures.
//
// The hardware is an H100 SXM by its data sheet (989.4 TFLOP/s dense bf16, 3.35 TB/s) with round
// efficiencies, written out here so that a new calibration of the catalogue changes no test:
//
//   memory  3.35e12 x 0.8   = 2.68e12   bytes/s
//   compute 989.4e12 x 0.6  = 593.64e12 FLOP/s
//   overhead 1 ms a step and 5 us a sequence; links 300 GB/s, 8 us a
//           message, sixteen accelerators to a node, between nodes 50 GB/s and 20 us
//
// Llama-3.1-8B (config.json: 32 layers, hidden 4096, 32 heads, 8 KV heads of 128, FFN 14336,
// vocabulary 128256):
//
//   attention of a layer  2 x 4096 x 4096 + 2 x 4096 x 1024 =  41,943,040
//   FFN of a layer        3 x 4096 x 14336                  = 176,160,768
//   32 layers             32 x 218,103,808                  = 6,979,321,856
//   output projection     128256 x 4096                     =   525,336,576
//   weights               2 x 7,504,658,432                 = 15,009,316,864 bytes
//   KV of a token         2 x 32 x 8 x 128 x 2              = 131,072 bytes
//   attention of a pair   4 x 32 x 32 x 128                 = 524,288 FLOPs

#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "catalog/models.h"
#include "replica/latency/roofline.h"

namespace inferscale {

inline constexpr double kMemory = 2.68e12;
inline constexpr double kCompute = 593.64e12;
inline constexpr double kTight = 1e-12;  // relative: a few roundings of doubles

inline HardwareSpec h100() {
  return {.name = "h100-sxm",
          .memory_bytes = 80e9,
          .memory_bandwidth = 3.35e12,
          .flops_16bit = 989.4e12,
          .flops_8bit = 1978.9e12,
          .link_bandwidth = 300e9,
          .link_latency_s = 8e-6,
          .accelerators_per_node = 16,
          .node_link_bandwidth = 50e9,
          .node_link_latency_s = 20e-6,
          .compute_efficiency = 0.6,
          .memory_efficiency = 0.8,
          .step_overhead_s = 1e-3,
          .sequence_overhead_s = 5e-6};
}

// Where nothing but memory traffic takes time.
inline HardwareSpec memory_only() {
  HardwareSpec hardware = h100();
  hardware.flops_16bit = hardware.flops_8bit = 1e40;
  hardware.step_overhead_s = hardware.sequence_overhead_s = 0;
  return hardware;
}

// Where nothing but arithmetic takes time.
inline HardwareSpec compute_only() {
  HardwareSpec hardware = h100();
  hardware.memory_bandwidth = 1e40;
  hardware.step_overhead_s = hardware.sequence_overhead_s = 0;
  return hardware;
}

inline ModelSpec model_named(const char* name) {
  const Result<ModelSpec> model = find_model(name);
  EXPECT_TRUE(model) << name;
  return model.value_or(ModelSpec());
}

inline void expect_near(double actual, double expected) {
  EXPECT_NEAR(actual, expected, kTight * expected);
}

inline double cost_ns(const ModelSpec& model, const HardwareSpec& hardware,
                      const DeploymentShape& shape, const StepShape& step) {
  return make_roofline(model, hardware, shape, {})->cost(step).first_ns;
}

inline StepShape prompts(std::int64_t count, std::int64_t tokens) {
  const auto n = static_cast<double>(tokens);
  return {.prefill_sequences = count,
          .prefill_tokens = count * tokens,
          .prefill_pairs = static_cast<double>(count) * n * (n + 1) / 2};
}

// Where moving activations takes no time.
inline HardwareSpec without_links(HardwareSpec hardware) {
  hardware.link_bandwidth = hardware.node_link_bandwidth = 1e40;
  hardware.link_latency_s = hardware.node_link_latency_s = 0;
  return hardware;
}

// Expected distinct experts of eight that `tokens` tokens visit, two each: counted one by one.
inline double distinct_experts_of_8(int tokens) {
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t a = 0; a < 8; ++a) {
    for (std::uint32_t b = a + 1; b < 8; ++b) pairs.push_back(1U << a | 1U << b);
  }
  std::vector<std::uint32_t> sets = {0};
  for (int token = 0; token < tokens; ++token) {
    std::vector<std::uint32_t> longer;
    for (const std::uint32_t set : sets) {
      for (const std::uint32_t pair : pairs) longer.push_back(set | pair);
    }
    sets = std::move(longer);
  }
  double sum = 0;
  for (const std::uint32_t set : sets) sum += std::popcount(set);
  return sum / static_cast<double>(sets.size());
}

}  // namespace inferscale
