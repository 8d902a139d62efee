// What moves in a step, by hand. Eight accelerators to a node, links 300 GB/s and 8 us, between
// nodes 50 GB/s and 20 us. Llama-3.1-8B has 32 layers and activations of 4096 x 2 bytes a token.

#include "replica/latency/link_costs.h"

#include <gtest/gtest.h>

#include "catalog/models.h"

namespace inferscale {
namespace {

HardwareSpec nodes_of_eight() {
  return {.link_bandwidth = 300e9,
          .link_latency_s = 8e-6,
          .accelerators_per_node = 8,
          .node_link_bandwidth = 50e9,
          .node_link_latency_s = 20e-6};
}

constexpr double kLink = 1.0 / 300;  // ns a byte
constexpr double kNode = 1.0 / 50;

void expect_costs(const char* model, const DeploymentShape& shape, double fixed_us,
                  double ns_per_token) {
  const LinkCosts costs = link_costs(*find_model(model), nodes_of_eight(), shape);
  EXPECT_NEAR(costs.fixed_ns, fixed_us * 1e3, 1e-9 * fixed_us * 1e3);
  EXPECT_NEAR(costs.ns_per_token, ns_per_token, 1e-12 * ns_per_token);
}

TEST(LinkCosts, OneAcceleratorMovesNothing) {
  expect_costs("llama-3.1-8b", {}, 0, 0);
  expect_costs("llama-3.1-8b", {.data = 4}, 0, 0);
}

TEST(LinkCosts, TensorParallelismInOneNodeAndInTwo) {
  const double reduced = 64 * 8192.0;  // two all-reduces a layer
  expect_costs("llama-3.1-8b", {.tensor = 4}, 64 * 8, reduced * 2 * 0.75 * kLink);
  // A ring of 8 in each node, then an eighth of the message over a ring of 2 nodes.
  expect_costs("llama-3.1-8b", {.tensor = 16}, 64 * (8 + 2 * 20),
               reduced * (2 * 0.875 * kLink + 2 * 0.5 / 8 * kNode));
}

TEST(LinkCosts, StagesPassActivationsOn) {
  // Four stages of one accelerator in a node: three hops, and the tokens' way back.
  expect_costs("llama-3.1-8b", {.pipeline = 4}, 4 * 8, 3 * 8192 * kLink);
  // Twelve stages: eight in the first node; one of the eleven hops leaves it, and the way back
  // does. 32 layers in twelve stages count as 36.
  expect_costs("llama-3.1-8b", {.pipeline = 12}, 10 * 8 + 20 + 20, 8192 * (10 * kLink + kNode));
  // Stages of four: two to a node. Each accelerator sends a quarter and gathers three.
  const double reduced = 64 * 8192 * 2 * 0.75 * kLink;
  expect_costs("llama-3.1-8b", {.tensor = 4, .pipeline = 4}, 64 * 8 + 2 * 8 + 20 + 20,
               reduced + 8192.0 / 4 * (2 * kLink + kNode) + 3 * 8192 * 0.75 * kLink);
}

TEST(LinkCosts, UnevenStagesCountAsTheFullest) {
  // 32 layers over 3 stages of 11, on two accelerators each.
  const double reduced = 66 * 8192 * kLink;
  expect_costs("llama-3.1-8b", {.tensor = 2, .pipeline = 3}, 66 * 8 + 2 * 8 + 8,
               reduced + 8192.0 / 2 * 2 * kLink + 2 * 8192 * 0.5 * kLink);
}

// Mixtral-8x7B: 32 layers, all MoE, two of eight experts a token. Over 4 accelerators with 2
// experts each, a token misses one with probability 6/8 x 5/7 = 15/28, so it goes to 4 x 13/28 =
// 13/7.
TEST(LinkCosts, SpreadExpertsOfSeveralRanksTakeAllToAlls) {
  const double bytes = 8192.0 * 13 / 7;
  // Ranks of one accelerator: no all-reduce; 32 layers x 2 all-to-alls, three quarters leave.
  expect_costs("mixtral-8x7b", {.expert = 4, .data = 4}, 64 * 8, 64 * bytes * 0.75 * kLink);
  // Ranks of two: the copies are cut in half, and attention is reduced over each rank.
  expect_costs("mixtral-8x7b", {.tensor = 2, .expert = 4, .data = 2}, (32 + 64) * 8,
               32 * 8192 * kLink + 64 * bytes / 2 * 0.75 * kLink);
  // One rank keeps both all-reduces: its accelerators have the same tokens anyway.
  expect_costs("mixtral-8x7b", {.tensor = 4, .expert = 4}, 64 * 8, 64 * 8192 * 1.5 * kLink);
  // Experts that are cut leave the ranks alone.
  expect_costs("mixtral-8x7b", {.data = 4}, 0, 0);
}

// Eight experts over 8 accelerators: each of a token's two is somewhere else. Over two nodes of
// four it misses one with probability 4/8 x 3/7 = 3/14, so it goes to 2 x 11/14 = 11/7 of them, and
// over four nodes of two to 13/7.
TEST(LinkCosts, AllToAllsBetweenNodes) {
  HardwareSpec hardware = nodes_of_eight();
  hardware.accelerators_per_node = 4;
  const ModelSpec mixtral = *find_model("mixtral-8x7b");
  const LinkCosts costs = link_costs(mixtral, hardware, {.expert = 8, .data = 8});
  EXPECT_DOUBLE_EQ(costs.fixed_ns, 64 * 20e3);
  EXPECT_NEAR(costs.ns_per_token, 64 * 8192 * 11.0 / 7 * 0.5 * kNode, 1e-9);
  // With two stages a rank has two accelerators, of which one is in each stage's group: a node
  // holds two of its eight.
  const LinkCosts staged = link_costs(mixtral, hardware, {.pipeline = 2, .expert = 8, .data = 8});
  EXPECT_NEAR(staged.ns_per_token, 64 * 8192 * 13.0 / 7 * 0.75 * kNode + 8192 * kLink, 1e-9);
}

TEST(LinkCosts, RanksThatFillNodesSpreadTheirExpertsOverAllOfThem) {
  HardwareSpec hardware = nodes_of_eight();
  hardware.accelerators_per_node = 2;
  // Two ranks of four, each on two nodes: attention is reduced in a node and between two, and the
  // experts of a stage lie on four nodes of two; a rank's accelerators send a quarter each.
  const LinkCosts costs =
      link_costs(*find_model("mixtral-8x7b"), hardware, {.tensor = 4, .expert = 8, .data = 2});
  const double reduced = 32 * 8192 * (2 * 0.5 * kLink + 2 * 0.5 / 2 * kNode);
  EXPECT_NEAR(costs.ns_per_token, reduced + 64 * 8192.0 / 4 * 13 / 7 * 0.75 * kNode, 1e-9);
}

}  // namespace
}  // namespace inferscale
