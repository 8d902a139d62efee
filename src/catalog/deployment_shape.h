// How a model is laid over accelerators: parallelism and number formats.

#pragma once

#include <cstdint>

#include "catalog/model_spec.h"

namespace inferscale {

struct DeploymentShape {
  std::int64_t tensor = 1;   // accelerators that share each layer; one replica occupies this many
  double weight_bits = 16;   // bits of one weight in memory
  double kv_bits = 16;       // bits of one number in the KV cache
  bool compute_8bit = false; // matrix products run at the 8-bit rate

  // Bytes of KV cache of one token, over all layers and accelerators of the replica.
  double kv_bytes_per_token(const ModelSpec& model) const {
    return static_cast<double>(model.kv_elements_per_token()) * kv_bits / 8.0;
  }
};

}  // namespace inferscale
