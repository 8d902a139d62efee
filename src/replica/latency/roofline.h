// `roofline`: step time from the model's arithmetic and traffic against the hardware's peaks.
//
//   step = max(FLOPs / (t F e_c), bytes / (t B e_m)) + links + overhead + overhead_seq x S
//
// with t accelerators (tensor parallel), F and B their peak FLOP/s and bytes/s, e_c and e_m the
// fractions of them that kernels reach, S the sequences of the step and T its tokens (all prompt
// tokens plus one for each decoding sequence):
//
//   FLOPs = 2 T (active parameters without embeddings) + 2 S (vocab x hidden)      dense products
//         + 4 layers heads head_dim (pairs)                      attention, QK and AV, at 16 bits
//   bytes = weights touched + KV read for context + KV written by all T tokens
//
// F is the 8-bit rate for the layers' products where the shape says so; attention and the output
// projection stay at 16 bits. `pairs` is n c + n (n + 1) / 2 for n prompt tokens after c in the
// cache, and the context for a decoding token. Weights touched are all parameters but the input
// embedding; of a layer of E routed experts only those that some token visits are read,
// E (1 - (1 - k/E)^T) in expectation for k experts a token. With MLA, attention runs in the
// compressed space: 2 heads (2 rank + rope) a pair. Layers with a sliding window of W tokens attend
// to, and read, at most W: they take the step's window figures, the other layers the plain ones.
// Cached tokens that a prompt's window reaches back to are counted as min(all c, W x prompts).
//
// Expert parallelism (experts spread over n = tensor x data accelerators, all data ranks in the
// same state): an accelerator reads those of its ceil(E/n) experts that the T data tokens of all
// ranks visit; arithmetic is shared as before.
//
// Pipeline parallelism (p stages): the step's tokens go through the stages as m = min(p, T)
// micro-batches of ceil(T/m) tokens, each stage having ceil(layers/p) layers and 1/p of the output
// projection. While steps follow one another each micro-batch enters again as it leaves the last
// stage, so a step is p stage times. With C and M a whole model's FLOP and byte times,
//
//   step = p max(C/(m p), (weights + KV/m)/p) = max(C/m, weights + KV/m)
//
// Each stage reads its weights for each micro-batch: pipelines multiply throughput, not the speed
// of one token. Prompts are in addition charged the fill of the pipeline, (p - 1) stage times of
// the prompts alone: GPipe's (m + p - 1)/m (Huang et al. 2019). See docs/latency.md for how far
// that holds.
//
// Sources: Williams, Waterman, Patterson 2009 (roofline); Pope et al. 2023 (transformer inference
// counts); links: collectives.h, link_costs.h. Not calibrated: for how wrong it is, see
// docs/latency.md.

#pragma once

#include <memory>

#include "catalog/deployment_shape.h"
#include "catalog/hardware_spec.h"
#include "catalog/model_spec.h"
#include "replica/latency/latency_model.h"
#include "replica/latency/latency_scales.h"

namespace inferscale {

std::unique_ptr<LatencyModel> make_roofline(const ModelSpec& model, const HardwareSpec& hardware,
                                            const DeploymentShape& shape,
                                            const LatencyScales& scales);

}  // namespace inferscale
