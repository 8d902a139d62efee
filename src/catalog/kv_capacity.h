// How many KV blocks a deployment has: what memory is left when the model is loaded.
//
//   blocks = floor((utilization x memory - weights - activations - runtime)
//                  / (block tokens x layers of a group x KV bytes of a token and layer))
//
// each on one accelerator; of pipeline stages, on the fullest. As engines do, the peak of a step's
// temporary tensors is set aside, the larger of two phases (they do not coexist):
//
//   layer    tokens x 2 bytes x (2 hidden + the widest part of a layer on this accelerator)
//   sampling tokens x 2 bytes x hidden + sequences x vocabulary x 38 bytes
//
// with tokens = max_num_batched_tokens and sequences = max_num_seqs. 38 bytes for each logit: 2 and
// 4 for the 16-bit and the fp32 copy, 24 to sort them with their 64-bit indices (in and out), 8 for
// probabilities and their running sum. Engines that logged their profile measured 38.3
// (docs/kv_memory.md). Runtime: 0.13 GiB that libraries take outside the allocator, and 0.42 GiB
// more for collectives when accelerators share the model, as the same logs say.
//
// Plain models have one group of all layers. With `windows: kFreed` layers that have a sliding
// window are in groups of their own (kv_groups.h), and a block is one group's; how many a sequence
// holds then follows from its KvLayout. A data rank has all these blocks to itself.

#pragma once

#include <cstdint>

#include "base/result.h"
#include "catalog/deployment_shape.h"
#include "catalog/hardware_spec.h"
#include "catalog/kv_groups.h"
#include "catalog/model_spec.h"
#include "core/request.h"

namespace inferscale {

struct KvCapacityOptions {
  double gpu_memory_utilization = 0.9;  // the part of memory that the engine may use
  std::int64_t kv_block_tokens = 16;
  std::int64_t max_num_batched_tokens = 8192;
  std::int64_t max_num_seqs = 256;
  // What the engine sets aside for captured graphs. vLLM before 0.21 captures outside the budget
  // (0); later versions reckon about 0.3 GiB.
  double cuda_graph_bytes = 0;
  WindowBlocks windows = WindowBlocks::kKept;
};

// All bytes are on one accelerator; blocks and tokens are those of a replica's data rank.
struct KvCapacity {
  KvGroups groups;
  BlockCount blocks = 0;
  TokenCount tokens = 0;  // that fit whatever the windows free: blocks / groups x block tokens
  double weight_bytes = 0;
  double activation_bytes = 0;
  double overhead_bytes = 0;   // runtime, collectives, captured graphs
  double usable_bytes = 0;     // left for the KV cache
  double bytes_per_token = 0;  // in all layers of the (fullest) stage
  double bytes_per_block = 0;
};

// An error when not even one block fits: it says the bytes needed and there, and the smallest
// tensor parallelism that would fit.
Result<KvCapacity> kv_capacity(const ModelSpec& model, const HardwareSpec& hardware,
                               const DeploymentShape& shape, const KvCapacityOptions& options);

}  // namespace inferscale
