// The keys of `deployment.engine` that are about agent programs: how calls are served, and what
// becomes of a chain's KV cache between them (`retention`).

#pragma once

#include <cstdint>
#include <optional>

#include "base/config_reader.h"
#include "replica/kv_retention.h"

namespace inferscale {

enum class ServiceMode : std::uint8_t {
  kBatched,  // the engine with its batch
  kSerial,   // one call after the other (replica/serial)
};

ServiceMode read_service_mode(ConfigReader& engine);

// Reads the map `retention`; nothing when it is missing or null. Bytes per token are left at 0.
std::optional<KvRetentionOptions> read_kv_retention(ConfigReader& engine);

// What counts for programs when nothing is written.
KvRetentionOptions default_kv_retention();

}  // namespace inferscale
