// What one replica of a fleet did in a run: a row of the report's table of replicas.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "core/kv_retention_usage.h"

namespace inferscale {

// Filled by whoever ran the fleet, one for each replica that was ever up, in the order of `index`.
// A replica that failed and came back is one row: its times and counts are sums over its lives.
struct ReplicaReport {
  std::uint32_t index = 0;        // in the fleet, as in Outcome::replica
  std::string pool;               // of the configuration: "replicas", "prefill", "decode", ...
  std::int64_t accelerators = 1;  // that it occupies while it is up
  Duration up;                    // from the start of its start-up to its end, time down left out
  double busy_ns = 0;             // some step was running
  std::int64_t finished = 0;      // requests whose last token came from it
  std::int64_t preemptions = 0;
  // Of the prompts that it looked up in its prefix cache; both 0 without a cache.
  std::int64_t prompt_tokens_looked_up = 0;
  std::int64_t prompt_tokens_cached = 0;  // of these, found there
  double kv_block_ns = 0;                 // integral of held KV blocks
  std::int64_t kv_blocks = 0;             // that there are; 0: it keeps none
  std::int64_t kv_blocks_peak = 0;
  std::int64_t queue_peak = 0;
  KvRetentionUsage retention;  // where agent programs ran

  // Fractions below exist where their denominators do.
  std::optional<double> prefix_hit_rate() const {
    return fraction(static_cast<double>(prompt_tokens_cached),
                    static_cast<double>(prompt_tokens_looked_up));
  }
  std::optional<double> busy_fraction() const {
    return fraction(busy_ns, static_cast<double>(up.ns()));
  }
  std::optional<double> kv_used_mean() const {
    return fraction(kv_block_ns, static_cast<double>(up.ns()) * static_cast<double>(kv_blocks));
  }
  std::optional<double> kv_used_peak() const {
    return fraction(static_cast<double>(kv_blocks_peak), static_cast<double>(kv_blocks));
  }

 private:
  static std::optional<double> fraction(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
  }
};

}  // namespace inferscale
