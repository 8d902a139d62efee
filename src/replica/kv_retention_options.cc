#include "replica/kv_retention_options.h"

#include <string>

namespace inferscale {
namespace {

constexpr double kGigabyte = 1e9;
constexpr double kHostCapacityGb = 128;
constexpr double kHostBaseLatencyUs = 20;
constexpr double kHostBandwidthGbS = 25;  // what is left of PCIe 4.0 x16 (32 GB/s) for data

IdleKv idle_named(const std::string& name) {
  if (name == "recompute") return IdleKv::kRecompute;
  return name == "offload" ? IdleKv::kOffload : IdleKv::kRetain;
}

HostTierOptions read_host(ConfigReader host) {
  HostTierOptions options;
  options.capacity_bytes =
      kGigabyte * host.number("capacity_gb", {.fallback = kHostCapacityGb,
                                              .min = 0,
                                              .max = 1e6,
                                              .unit = "GB",
                                              .doc = "host memory for KV caches, of each replica; "
                                                     "least recently used ones leave first"});
  options.base_latency = Duration::from_millis(
      1e-3 * host.number("base_latency_us", {.fallback = kHostBaseLatencyUs,
                                             .min = 0,
                                             .max = 1e9,
                                             .unit = "us",
                                             .doc = "of a transfer, whatever its size"}));
  // GB/s are bytes per nanosecond.
  options.bytes_per_ns =
      host.number("bandwidth_gb_s", {.fallback = kHostBandwidthGbS,
                                     .min = 1e-6,
                                     .max = 1e6,
                                     .unit = "GB/s",
                                     .doc = "of a transfer, in either direction; transfers do not "
                                            "slow each other down"});
  host.finish();
  return options;
}

}  // namespace

ServiceMode read_service_mode(ConfigReader& engine) {
  const std::string mode = engine.choice(
      "service", {"batched", "serial"}, "batched",
      "serial: one call after the other, KV kept by chain (docs/serial_station.md); for "
      "workload.sessions");
  return mode == "serial" ? ServiceMode::kSerial : ServiceMode::kBatched;
}

std::optional<KvRetentionOptions> read_kv_retention(ConfigReader& engine) {
  std::optional<ConfigReader> retention = engine.optional_map(
      "retention",
      "what becomes of the KV cache of an agent's session between its calls (docs/sessions.md); "
      "null: the defaults below, for workload.sessions");
  if (!retention) return std::nullopt;
  KvRetentionOptions options;
  options.idle = idle_named(
      retention->choice("idle", {"retain", "recompute", "offload"}, "retain",
                        "retain: in HBM until its blocks are needed; recompute: dropped; offload: "
                        "moved to host memory"));
  const auto ttl = retention->optional_number(
      "ttl_s", {.min = 0,
                .max = 1e9,
                .unit = "s",
                .doc = "idle KV in HBM is dropped after so long; null: never"});
  if (ttl) options.ttl = Duration::from_seconds(*ttl);
  options.keep_ended = retention->boolean(
      "keep_ended", false,
      "what ended sessions leave stays too, as in an engine that nobody tells of their end");
  options.host = read_host(retention->map("host", "host memory, for idle: offload"));
  retention->finish();
  return options;
}

KvRetentionOptions default_kv_retention() {
  return {.host = {.capacity_bytes = kHostCapacityGb * kGigabyte,
                   .base_latency = Duration::from_millis(1e-3 * kHostBaseLatencyUs),
                   .bytes_per_ns = kHostBandwidthGbS}};
}

}  // namespace inferscale
