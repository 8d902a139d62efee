// The keys of a workload that say what its prompts have in common.

#pragma once

#include <optional>

#include "base/config_reader.h"
#include "workload/generated_source.h"
#include "workload/shared_prefix_source.h"

namespace inferscale {

// Each reads one key of the map `workload`; nothing when it is missing or null.
std::optional<SharedPrefixOptions> read_shared_prefix(ConfigReader& workload);
std::optional<PrefixOptions> read_prefixes(ConfigReader& workload);
std::optional<ConversationOptions> read_conversations(ConfigReader& workload);

}  // namespace inferscale
