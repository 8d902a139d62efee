// What becomes of a chain's KV cache between its calls, while its tools run.
//
//   retain     it stays in HBM until its TTL ends or its blocks are needed (LRU)
//   recompute  it is dropped when the call ends
//   offload    it moves to host memory when the call ends, and back before the next one:
//              transfer time = base_latency + bytes / bandwidth
//              The move begins at the call's end and overlaps the gap. Host memory is finite: LRU.
//
// An idle entry whose last call ended at t is gone from t + TTL on, that instant included. What a
// chain's last call leaves is dropped at its end, unless `keep_ended`.

#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/request.h"

namespace inferscale {

enum class IdleKv : std::uint8_t { kRetain, kRecompute, kOffload };

struct HostTierOptions {
  double capacity_bytes = 0;  // of one replica. REQUIRES: >= 0
  Duration base_latency;
  double bytes_per_ns = 0;  // REQUIRES: > 0
};

struct KvRetentionOptions {
  IdleKv idle = IdleKv::kRetain;
  std::optional<Duration> ttl;  // nothing: for ever
  bool keep_ended = false;      // what ended chains leave stays, as in an engine that isn't told
  HostTierOptions host;         // for kOffload
  double kv_bytes_per_token = 0;
};

}  // namespace inferscale
