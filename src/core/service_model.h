// The service estimate: how long a replica takes, as one can say it in a line.
//
// A step of the engine over n decoding sequences and a chunk of c prompt tokens takes about
//
//   gamma + beta n + alpha c
//
// so an unloaded prompt of l tokens, in chunks of at most B, takes ceil(l / B) gamma + alpha l, and
// the gap between two tokens is gamma + beta n. Worst-case bounds, virtual queues, Retry-After and
// the gate's own predictions all use this one estimate. Observed throughput never stands for
// capacity: at low load it is only the load.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

enum class ServiceProvenance : std::uint8_t {
  kUnknown,     // nobody has said: the figures are not to be used
  kCatalogue,   // the latency model of the configuration
  kCalibrated,  // measured on an unloaded engine
  kFitted,      // learned from what was served
};
std::string_view service_provenance_name(ServiceProvenance provenance);

struct ServiceModel {
  double step_ns = 0;                 // gamma
  double prefill_ns_per_token = 0;    // alpha
  double decode_ns_per_sequence = 0;  // beta
  TokenCount chunk_tokens = 8192;     // B. REQUIRES: at least 1
  TokenCount kv_capacity_tokens = 0;  // of a replica; 0: not known
  std::int64_t max_num_seqs = 0;      // of a replica; 0: not known
  std::int64_t replicas = 1;
  ServiceProvenance provenance = ServiceProvenance::kUnknown;
  double confidence = 0;  // 0 to 1; 1 for a stated model, for a fit its R^2

  bool is_known() const { return provenance != ServiceProvenance::kUnknown; }
  // A prompt of so many tokens to compute, alone on a replica.
  double prefill_ns(TokenCount tokens) const {
    const TokenCount chunks = (tokens + chunk_tokens - 1) / chunk_tokens;
    return static_cast<double>(chunks) * step_ns +
           prefill_ns_per_token * static_cast<double>(tokens);
  }
  // Between two tokens of each of `sequences` that decode on one replica.
  double itl_ns(double sequences) const { return step_ns + decode_ns_per_sequence * sequences; }
};

}  // namespace inferscale
