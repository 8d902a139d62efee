#include "replica/latency/collectives.h"

#include <algorithm>

#include "base/check.h"

namespace inferscale {

TransferCost all_reduce(const HardwareSpec& hardware, const GroupPlacement& group) {
  if (group.accelerators == 1) return {};
  const double in_node = static_cast<double>(group.in_node);
  TransferCost cost;
  if (group.in_node > 1) {
    const TransferCost hop = link_hop(hardware);
    cost.fixed_ns = hop.fixed_ns;
    cost.ns_per_byte = 2.0 * (in_node - 1.0) / in_node * hop.ns_per_byte;
  }
  if (group.nodes() > 1) {
    const double nodes = static_cast<double>(group.nodes());
    const TransferCost hop = node_hop(hardware);
    cost.fixed_ns += 2.0 * (nodes - 1.0) * hop.fixed_ns;
    cost.ns_per_byte += 2.0 * (nodes - 1.0) / (nodes * in_node) * hop.ns_per_byte;
  }
  return cost;
}

TransferCost all_to_all(const HardwareSpec& hardware, const GroupPlacement& group,
                        double accelerators, double nodes) {
  if (group.accelerators == 1) return {};
  const double in_node = static_cast<double>(group.in_node);
  TransferCost cost;
  if (group.in_node > 1) {
    const TransferCost hop = link_hop(hardware);
    cost = {.fixed_ns = hop.fixed_ns,
            .ns_per_byte = accelerators * (in_node - 1.0) / in_node * hop.ns_per_byte};
  }
  if (group.nodes() > 1) {
    const double all_nodes = static_cast<double>(group.nodes());
    const TransferCost hop = node_hop(hardware);
    cost.fixed_ns = std::max(cost.fixed_ns, hop.fixed_ns);
    cost.ns_per_byte =
        std::max(cost.ns_per_byte, nodes * (all_nodes - 1.0) / all_nodes * hop.ns_per_byte);
  }
  return cost;
}

TransferCost link_hop(const HardwareSpec& hardware) {
  CHECK(hardware.link_bandwidth > 0) << hardware.name << " has no links";
  return {.fixed_ns = hardware.link_latency_s * 1e9, .ns_per_byte = 1e9 / hardware.link_bandwidth};
}

TransferCost node_hop(const HardwareSpec& hardware) {
  CHECK(hardware.node_link_bandwidth > 0) << hardware.name << " has no network";
  return {.fixed_ns = hardware.node_link_latency_s * 1e9,
          .ns_per_byte = 1e9 / hardware.node_link_bandwidth};
}

}  // namespace inferscale
