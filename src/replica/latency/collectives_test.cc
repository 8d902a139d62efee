// Collectives against a count of the bytes that go over each wire, and against measured times.

#include "replica/latency/collectives.h"

#include <gtest/gtest.h>

#include <cmath>

#include "catalog/accelerators.h"

namespace inferscale {
namespace {

HardwareSpec round_figures() {
  return {.link_bandwidth = 100e9,
          .link_latency_s = 5e-6,
          .accelerators_per_node = 4,
          .node_link_bandwidth = 10e9,
          .node_link_latency_s = 20e-6};
}

double ns(const TransferCost& cost, double bytes) {
  return cost.fixed_ns + cost.ns_per_byte * bytes;
}

// Bytes that each member sends to sum `bytes` over a ring: a chunk in every round, first until the
// sums are complete, then until everybody has them.
double ring_bytes(double bytes, int members) {
  double sent = 0;
  for (int round = 0; round < 2 * (members - 1); ++round) sent += bytes / members;
  return sent;
}

TEST(Collectives, AllReduceInANodeIsARing) {
  for (const int members : {2, 3, 4}) {
    const TransferCost cost =
        all_reduce(round_figures(), {.accelerators = members, .in_node = members});
    EXPECT_DOUBLE_EQ(ns(cost, 6e6), 5e3 + ring_bytes(6e6, members) / 100) << members;
  }
}

TEST(Collectives, AllReduceOverNodesIsARingInEachAndOneBetweenThem) {
  // 12 accelerators in 3 nodes: inside, rings of 4; then each is left a quarter to sum over 3.
  const TransferCost cost = all_reduce(round_figures(), {.accelerators = 12, .in_node = 4});
  const double between = ring_bytes(8e6 / 4, 3) / 10 + 4 * 20e3;
  EXPECT_DOUBLE_EQ(ns(cost, 8e6), 5e3 + ring_bytes(8e6, 4) / 100 + between);
  // One in each node: nothing goes over links.
  const TransferCost apart = all_reduce(round_figures(), {.accelerators = 3, .in_node = 1});
  EXPECT_DOUBLE_EQ(ns(apart, 8e6), ring_bytes(8e6, 3) / 10 + 4 * 20e3);
}

TEST(Collectives, AllToAllTakesTheSlowerOfLinksAndNetwork) {
  HardwareSpec hardware = round_figures();
  // 8 MB in 8 parts over two nodes of 4: half crosses the network; of what a node keeps or gets,
  // three quarters are for another accelerator than the one that has it.
  const GroupPlacement two_nodes{.accelerators = 8, .in_node = 4};
  EXPECT_DOUBLE_EQ(ns(all_to_all(hardware, two_nodes, 1, 1), 8e6), 20e3 + 4e6 / 10);
  hardware.node_link_bandwidth = 1000e9;
  EXPECT_DOUBLE_EQ(ns(all_to_all(hardware, two_nodes, 1, 1), 8e6), 20e3 + 6e6 / 100);
  EXPECT_DOUBLE_EQ(ns(all_to_all(hardware, {.accelerators = 4, .in_node = 4}, 1, 1), 8e6),
                   5e3 + 6e6 / 100);
}

TEST(Collectives, ACopyCrossesToANodeOnce) {
  // To three accelerators on both nodes: one node's copy crosses, the links pass on all three.
  const GroupPlacement two_nodes{.accelerators = 8, .in_node = 4};
  HardwareSpec hardware = round_figures();
  EXPECT_DOUBLE_EQ(ns(all_to_all(hardware, two_nodes, 3, 2), 8e6), 20e3 + 8e6 / 10);
  hardware.node_link_bandwidth = 1000e9;
  EXPECT_DOUBLE_EQ(ns(all_to_all(hardware, two_nodes, 3, 2), 8e6), 20e3 + 18e6 / 100);
}

TEST(Collectives, AGroupOfOneMovesNothing) {
  EXPECT_EQ(ns(all_reduce({}, {}), 1e6), 0);
  EXPECT_EQ(ns(all_to_all({}, {}, 1, 1), 1e6), 0);
}

struct Measured {
  double bytes;
  double ms;
};

// NCCL 2.27.3 on H100 SXM, 16-bit numbers (AIConfigurator's tables).
TEST(Collectives, AllToAllOfH100IsWithinFifteenPercentOfMeasured) {
  const HardwareSpec h100 = *find_accelerator("h100-sxm");
  for (const auto& [bytes, ms] : {Measured{67108864, 0.21719}, Measured{536870912, 1.48067}}) {
    const double computed =
        ns(all_to_all(h100, {.accelerators = 8, .in_node = 8}, 1, 1), bytes) * 1e-6;
    EXPECT_LT(std::abs(computed / ms - 1), 0.15) << bytes << " bytes: " << computed << " ms";
  }
  const double four =
      ns(all_to_all(h100, {.accelerators = 4, .in_node = 4}, 1, 1), 67108864) * 1e-6;
  EXPECT_LT(std::abs(four / 0.18394 - 1), 0.15) << four;
}

// Send and receive between two H100 machines (Vidur's profile, medians).
TEST(Collectives, HopsBetweenH100NodesAreWithinFivePercentOfMeasured) {
  const HardwareSpec h100 = *find_accelerator("h100-sxm");
  for (const auto& [bytes, ms] : {Measured{2048, 0.017}, Measured{4980736, 0.150},
                                  Measured{13139968, 0.378}, Measured{67108864, 1.871}}) {
    const double computed = ns(node_hop(h100), bytes) * 1e-6;
    EXPECT_LT(std::abs(computed / ms - 1), 0.05) << bytes << " bytes: " << computed << " ms";
  }
}

}  // namespace
}  // namespace inferscale
