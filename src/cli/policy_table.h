// Admission policies as tables and JSON: what each needs, and its card.

#pragma once

#include <string>
#include <vector>

#include "admission/registry.h"
#include "base/json_writer.h"
#include "plugin/plugins.h"

namespace inferscale {

// The needs of a policy with its defaults.
PolicyNeeds default_needs(const PolicyEntry& entry);

std::string policies_text(const PluginSearch& search);
JsonValue policies_json(const PluginSearch& search);

std::string policy_text(const PolicyEntry& entry, const PluginSearch& search);
JsonValue policy_json(const PolicyEntry& entry, const PluginSearch& search);

}  // namespace inferscale
