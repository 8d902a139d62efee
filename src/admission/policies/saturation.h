// Sheds low priorities while the replicas are saturated on average.
//
//   saturation  =  mean over replicas of max(queue_depth / queue_threshold,
//                                            kv_used_fraction / kv_threshold)
//   reject     <=>  saturation >= 1  and  priority < shed_below_priority
//
// After the saturation detector of the Gateway API Inference Extension, which llm-d ships (as its
// documentation and that of BLIS describe it). A replica of which a reading is unknown counts as 1,
// and so does a pool without replicas: whoever may be shed is shed when nobody knows.

#pragma once

#include <cstdint>

#include "admission/registry.h"

namespace inferscale {

struct SaturationOptions {
  double queue_threshold = 5;
  double kv_threshold = 0.8;
  std::int64_t shed_below_priority = 0;
};

const PolicyCard& saturation_card();
PolicyFactory read_saturation(ConfigReader& parameters);

}  // namespace inferscale
