#include "replica/latency/link_costs.h"

#include <algorithm>

#include "replica/latency/collectives.h"
#include "replica/latency/expert_routing.h"

namespace inferscale {
namespace {

constexpr double kActivationBytes = 2;  // bf16

void add(LinkCosts& costs, double times, const TransferCost& transfer, double bytes_per_token) {
  costs.fixed_ns += times * transfer.fixed_ns;
  costs.ns_per_token += times * bytes_per_token * transfer.ns_per_byte;
}

GroupPlacement tensor_group(const HardwareSpec& hardware, const DeploymentShape& shape) {
  return {.accelerators = shape.tensor,
          .in_node = std::min(shape.tensor, hardware.accelerators_per_node)};
}

// The accelerators over which the experts of one stage are spread.
GroupPlacement expert_group(const HardwareSpec& hardware, const DeploymentShape& shape) {
  if (shape.tensor >= hardware.accelerators_per_node) {
    return {.accelerators = shape.expert, .in_node = hardware.accelerators_per_node};
  }
  const std::int64_t rank = shape.tensor * shape.pipeline;
  const std::int64_t ranks = std::max<std::int64_t>(1, hardware.accelerators_per_node / rank);
  return {.accelerators = shape.expert, .in_node = std::min(shape.expert, shape.tensor * ranks)};
}

// Each accelerator sends its `tensor`-th of the activations to its like in the next stage, which
// gathers the rest from its neighbours.
void add_hops(LinkCosts& costs, const HardwareSpec& hardware, const DeploymentShape& shape,
              double bytes_per_token) {
  const std::int64_t stages_in_node =
      std::max<std::int64_t>(1, hardware.accelerators_per_node / shape.tensor);
  const std::int64_t to_nodes = (shape.pipeline + stages_in_node - 1) / stages_in_node - 1;
  const std::int64_t in_node = shape.pipeline - 1 - to_nodes;
  const double parts = static_cast<double>(shape.tensor);
  if (in_node > 0) {
    add(costs, static_cast<double>(in_node), link_hop(hardware), bytes_per_token / parts);
  }
  if (to_nodes > 0) {
    add(costs, static_cast<double>(to_nodes), node_hop(hardware), bytes_per_token / parts);
  }
  if (shape.tensor > 1) {
    const double gathered = bytes_per_token * (parts - 1.0) / parts;
    costs.ns_per_token +=
        static_cast<double>(shape.pipeline - 1) * gathered * link_hop(hardware).ns_per_byte;
  }
  costs.fixed_ns += to_nodes > 0 ? node_hop(hardware).fixed_ns : link_hop(hardware).fixed_ns;
}

}  // namespace

LinkCosts link_costs(const ModelSpec& model, const HardwareSpec& hardware,
                     const DeploymentShape& shape) {
  // The slowest stage sets the pace, so all count as the fullest.
  const double layers = static_cast<double>(shape.pipeline * shape.stage_layers(model.layers));
  const double moe_layers =
      layers * static_cast<double>(model.moe_layers()) / static_cast<double>(model.layers);
  const double bytes_per_token = static_cast<double>(model.hidden_dim) * kActivationBytes;
  const bool all_to_alls = shape.spreads_experts() && shape.data > 1;
  LinkCosts costs;
  const double all_reduces = all_to_alls ? 2.0 * layers - moe_layers : 2.0 * layers;
  add(costs, all_reduces, all_reduce(hardware, tensor_group(hardware, shape)), bytes_per_token);
  if (all_to_alls) {
    const GroupPlacement group = expert_group(hardware, shape);
    const TransferCost exchange =
        all_to_all(hardware, group, expected_destinations(*model.moe, group.accelerators),
                   expected_destinations(*model.moe, group.nodes()));
    // The accelerators of a rank have the same tokens, and each sends its part of them.
    add(costs, 2.0 * moe_layers, exchange, bytes_per_token / static_cast<double>(shape.tensor));
  }
  if (shape.pipeline > 1) add_hops(costs, hardware, shape, bytes_per_token);
  return costs;
}

}  // namespace inferscale
