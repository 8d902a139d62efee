#include "admission/policies/batch_places.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace inferscale {

BatchPlaces batch_places(const PoolView& pool, double mean_tokens) {
  const ServiceModel& model = pool.service();
  double each = std::numeric_limits<double>::infinity();
  if (model.max_num_seqs > 0) each = static_cast<double>(model.max_num_seqs);
  if (model.kv_capacity_tokens > 0 && mean_tokens > 0) {
    each = std::min(each, std::floor(static_cast<double>(model.kv_capacity_tokens) / mean_tokens));
  }
  if (each == std::numeric_limits<double>::infinity()) return {.in_all = each};
  each = std::max(1.0, each);
  return {.in_all = each * std::max(pool.replicas(), 1U), .step_ns = model.itl_ns(each)};
}

}  // namespace inferscale
