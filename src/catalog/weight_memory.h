// Bytes that a model's weights take on one of the accelerators that share it.
//
// Tensor parallelism splits the large matrices evenly; what it cannot split is kept whole on each
// accelerator:
//
//   split over all             queries and output of attention, FFN, experts, embedding, output
//   head split over the KV heads    keys and values: with more accelerators than KV heads, heads
//   repeat on each                    the compressing matrices of MLA, routers, norms
//
// With pipeline stages the figures are of the fullest: ceil(layers / stages) of them and one of the
// two embedding matrices (the first stage has the embedding, the last the output head; engines give
// a remainder of layers to other stages). Experts that are spread lie whole on an accelerator,
// ceil(E / expert) of each MoE layer.
//
// Quantised checkpoints keep embedding, output head, router and norms at 16 bits; mxfp4 ones all
// but the routed experts, whose inner width engines pad to a multiple of 256 for their kernels
// (2880 to 3072 in gpt-oss: 13.47 and 64.38 GiB as vLLM loaded it).

#pragma once

#include <cstdint>

#include "catalog/deployment_shape.h"
#include "catalog/model_spec.h"

namespace inferscale {

double weight_bytes_per_accelerator(const ModelSpec& model, const DeploymentShape& shape);

// Bytes of KV cache of one token on one accelerator. KV heads that are fewer than the accelerators
// repeat, and the compressed vector of MLA is kept on each. The first is of one layer, the second
// of all layers of the fullest pipeline stage.
double kv_bytes_per_layer_per_accelerator(const ModelSpec& model, const DeploymentShape& shape);
double kv_bytes_per_token_per_accelerator(const ModelSpec& model, const DeploymentShape& shape);

// KV heads that one accelerator keeps of each layer; at least 1.
std::int64_t kv_heads_per_accelerator(const ModelSpec& model, std::int64_t tensor);

}  // namespace inferscale
