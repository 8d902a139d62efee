#include "core/kv_retention_usage.h"

#include <algorithm>

namespace inferscale {

void add_retention(const KvRetentionUsage& part, KvRetentionUsage& sum) {
  sum.idle_token_ns += part.idle_token_ns;
  sum.resident_token_ns += part.resident_token_ns;
  sum.evicted_ttl += part.evicted_ttl;
  sum.evicted_pressure += part.evicted_pressure;
  sum.dropped_ended += part.dropped_ended;
  sum.dropped_recompute += part.dropped_recompute;
  sum.evictions_ttl += part.evictions_ttl;
  sum.evictions_pressure += part.evictions_pressure;
  sum.offloads += part.offloads;
  sum.restores += part.restores;
  sum.offloaded += part.offloaded;
  sum.restored += part.restored;
  sum.host_evicted += part.host_evicted;
  sum.offload_ns += part.offload_ns;
  sum.restore_ns += part.restore_ns;
  sum.exposed_ns += part.exposed_ns;
  sum.host_token_ns += part.host_token_ns;
  sum.resident_peak = std::max(sum.resident_peak, part.resident_peak);
  sum.host_peak = std::max(sum.host_peak, part.host_peak);
}

}  // namespace inferscale
