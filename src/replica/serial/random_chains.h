// Random programs and random rules for the KV caches that they leave, for tests.

#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "replica/serial/serial_test_support.h"

namespace inferscale {

struct ChainScenario {
  std::vector<PlannedChain> chains;
  ReplicaOptions options;
};

inline ChainScenario random_chains(std::uint64_t seed) {
  RandomStream dice(seed, "serial station");
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return static_cast<std::uint32_t>(low + dice.below(high - low + 1));
  };
  const bool offloads = between(0, 2) == 0;
  ChainScenario scenario;
  scenario.options = {.layout = {.block_tokens = between(0, 1) == 0 ? 4 : 5},
                      .kv_blocks = between(8, 60),
                      .max_model_len = 10'000,
                      .retention = KvRetentionOptions{}};
  KvRetentionOptions& rules = *scenario.options.retention;
  if (offloads) {
    rules.idle = IdleKv::kOffload;
  } else if (between(0, 9) == 0) {
    rules.idle = IdleKv::kRecompute;
  }
  if (!offloads && between(0, 1) == 0) rules.ttl = Duration::nanos(between(0, 800));
  rules.keep_ended = between(0, 2) == 0;
  rules.kv_bytes_per_token = 2.0 * between(1, 8);
  rules.host = {.capacity_bytes = rules.kv_bytes_per_token * between(10, 400),
                .base_latency = Duration::nanos(between(0, 100)),
                .bytes_per_ns = static_cast<double>(between(1, 2))};
  const std::uint32_t chains = between(1, 7);
  for (std::uint32_t chain = 0; chain < chains; ++chain) {
    PlannedChain& planned = scenario.chains.emplace_back();
    planned.begin_ns = between(0, 1'000);
    std::uint32_t left = 0;
    for (std::uint32_t turns = between(1, 6); turns > 0; --turns) {
      PlannedCall call{.appended = between(1, 40), .output = between(1, 9)};
      call.gap_ns = between(0, 3) == 0 ? 0 : between(0, 1'000);
      if (between(0, 4) == 0) call.cut = between(0, left);
      planned.calls.push_back(call);
      left = left - call.cut + call.appended + call.output;
    }
  }
  return scenario;
}

}  // namespace inferscale
