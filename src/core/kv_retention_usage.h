// What happened to the KV cache that chains of calls leave behind (replica/kv_retention.h).

#pragma once

#include <cstdint>

#include "core/request.h"

namespace inferscale {

// Of one replica, summed over the time simulated so far. "Resident" is everything in HBM that is of
// some call or chain: held by running calls, or idle.
struct KvRetentionUsage {
  double idle_token_ns = 0;  // integral of idle tokens (in whole blocks) in HBM
  double resident_token_ns = 0;
  TokenCount resident_peak = 0;  // tokens, in whole blocks
  TokenCount evicted_ttl = 0;    // idle tokens that were dropped, by cause
  TokenCount evicted_pressure = 0;
  TokenCount dropped_ended = 0;      // at the end of their chain
  TokenCount dropped_recompute = 0;  // by IdleKv::kRecompute
  std::int64_t evictions_ttl = 0;    // how often something was dropped for that cause
  std::int64_t evictions_pressure = 0;

  // The host tier.
  std::int64_t offloads = 0;
  std::int64_t restores = 0;
  TokenCount offloaded = 0;
  TokenCount restored = 0;
  TokenCount host_evicted = 0;  // for others, or because it is larger than the whole tier
  double offload_ns = 0;        // sums of transfer times
  double restore_ns = 0;        // of these, all are waited for
  double exposed_ns = 0;        // what was left of an offload when its chain's next call began
  double host_token_ns = 0;
  TokenCount host_peak = 0;
};

// Of another replica: sums, and of peaks the higher one.
void add_retention(const KvRetentionUsage& part, KvRetentionUsage& sum);

}  // namespace inferscale
