// What a step spends on moving activations, for a model laid over accelerators in a given way.
//
//   two all-reduces a layer over the `tensor` accelerators: after attention and after the FFN
//   with experts spread over several data ranks, in a MoE layer instead of the second: an
//       all-to-all to the experts and one back. A token goes to the accelerators, and once to each
//       node, that hold some of its k experts (expert_routing.h); the `tensor` accelerators of a
//       rank send a part of its tokens each
//   pipeline: a hop from each stage to the next, each accelerator sending a `tensor`-th, gathered
//       again over the links; and the new tokens' way back to the first stage, without bytes
//
// Activations are `hidden` numbers of 2 bytes for each token. With m micro-batches (roofline.h) the
// token count of all this is a micro-batch's, and each stage has its share of the layers: over the
// stages they add up to all layers once.
//
// Where the groups lie: tensor innermost, then pipeline, then data, node after node
// (deployment_shape.h). A hop goes to another node where a node has no room for the next stage. Of
// the accelerators over which a stage's experts are spread, a node holds those of as many data
// ranks as fit in it whole.

#pragma once

#include "catalog/deployment_shape.h"
#include "catalog/hardware_spec.h"
#include "catalog/model_spec.h"

namespace inferscale {

// fixed + per_token x tokens of a micro-batch.
struct LinkCosts {
  double fixed_ns = 0;
  double ns_per_token = 0;
};

LinkCosts link_costs(const ModelSpec& model, const HardwareSpec& hardware,
                     const DeploymentShape& shape);

}  // namespace inferscale
