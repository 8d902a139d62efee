// The points of a sweep over agent sessions: what is set at each of them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/run_request.h"
#include "study/scenario.h"

namespace inferscale {

enum class SweepKind : std::uint8_t { kTtl, kAffinity, kMemory, kHost };

std::string_view sweep_name(SweepKind kind);  // "ttl_sweep", "memory_stress", ...: kind of a study

struct SweepPoint {
  std::string name;      // "60 s", "never", "slack 200 ms", "0.5 x peak", "offload 25 GB/s"
  std::string strategy;  // what is done there: "retain", "bounded_affinity", "offload", ...
  // On the sweep's axis (s, ms, multiples, GB/s); nothing for what has no place there.
  std::optional<double> value;
  std::optional<double> capacity_gb;  // of host memory, where the strategy has some
  // Of memory-stress, by repetition: the KV cache, in tokens.
  std::vector<double> cache_tokens;
  // False: hardware that the deployment doesn't have, which is never recommended.
  bool is_choice = true;
  // By repetition, or one for all.
  std::vector<std::vector<Setting>> settings;

  const std::vector<Setting>& settings_of(std::int64_t repetition) const {
    return settings.size() == 1 ? settings.front() : settings[static_cast<std::size_t>(repetition)];
  }
};

// The points of the scenario's options, in order. REQUIRES: kind is not kMemory, whose points
// follow from runs. Errors: kAffinity and one replica, where a router has nothing to choose.
Result<std::vector<SweepPoint>> sweep_points(SweepKind kind, const Scenario& scenario);

// Between HBM and host memory, as the configuration has it or would have it.
double configured_bandwidth_gb_s(const PreparedRun& base);

// Every chain's KV cache stays until its blocks are needed.
std::vector<Setting> full_retention();
// What nobody's KV cache fills: beside it memory is no limit.
constexpr double kUnlimitedKvTokens = 1e12;
Setting kv_cache_setting(double tokens);

}  // namespace inferscale
