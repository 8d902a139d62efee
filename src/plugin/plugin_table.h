// The table that a plug-in exports (include/inferscale/policy_plugin.h), checked.
//
// What stands in memory that a plug-in filled in is input: every pointer that is needed, the name,
// the signals and the parameters are judged before anything of it is used. Text stays where the
// plug-in has it; plug-ins are never unloaded.

#pragma once

#include <inferscale/policy_plugin.h>

#include <string>
#include <vector>

#include "admission/registry.h"
#include "base/result.h"

namespace inferscale {

struct PluginTable {
  std::string path;          // of the file
  inferscale_policy policy;  // what the plug-in is too old to have is null
  std::vector<Signal> signals;
  std::vector<ParameterNote> notes;
  PolicyNeeds needs;
};

// Errors name the file. `table` may be null.
Result<PluginTable> check_plugin_table(const inferscale_policy* table, const std::string& path);

}  // namespace inferscale
