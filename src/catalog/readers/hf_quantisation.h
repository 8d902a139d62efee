// Bits of one weight by the `quantization_config` of a config.json.

#pragma once

#include "catalog/readers/hf_fields.h"

namespace inferscale {

// 16 when the model is not quantised. Scales and zero points are counted in: 4-bit weights in
// groups of 128 take 4.16 bits, mxfp4 4.25, nvfp4 4.5.
double read_native_weight_bits(HfFields& config);

}  // namespace inferscale
