// `roofline`: step time from the model's arithmetic and traffic against the hardware's peaks.
//
//   step = max(FLOPs / (t F e_c), bytes / (t B e_m)) + collectives + overhead + overhead_seq x S
//
// with t accelerators (tensor parallel), F and B their peak FLOP/s and bytes/s, e_c and e_m the
// fractions of them that kernels reach, S the sequences of the step and T its tokens (all prompt
// tokens plus one for each decoding sequence):
//
//   FLOPs = 2 T (active parameters without embeddings) + 2 S (vocab x hidden)      dense products
//         + 4 layers heads head_dim (pairs)                                      attention, QK and
//         AV
//   bytes = weights touched + KV read by decoding sequences + KV written by all T tokens
//
// `pairs` is n (n + 1) / 2 for a prompt and the context for a decoding token. Weights touched are
// all parameters but the input embedding; of a layer of E routed experts only those that some
// token visits are read, E (1 - (1 - k/E)^T) in expectation for k experts a token and uniform
// routing. With MLA, attention runs in the compressed space: 2 heads (2 rank + rope) a pair. Tensor
// parallelism adds two all-reduces a layer of T hidden 2 bytes: a ring's 2 (t-1)/t bytes over the
// link, plus the link's latency. Sliding windows are not used: their layers count as full
// attention.
//
// The whole step is multiplied by prefill_scale or decode_scale (default 1), which are for
// sensitivity studies. Sources: Williams, Waterman, Patterson 2009 (roofline); Pope et al. 2023
// (transformer inference counts); Thakur et al. 2005 (ring all-reduce). Not calibrated: for how
// wrong it is, see docs/latency.md.

#pragma once

#include <memory>

#include "catalog/deployment_shape.h"
#include "catalog/hardware_spec.h"
#include "catalog/model_spec.h"
#include "replica/latency/latency_model.h"

namespace inferscale {

struct LatencyScales {
  double prefill = 1.0;
  double decode = 1.0;
};

std::unique_ptr<LatencyModel> make_roofline(const ModelSpec& model, const HardwareSpec& hardware,
                                            const DeploymentShape& shape,
                                            const LatencyScales& scales);

}  // namespace inferscale
