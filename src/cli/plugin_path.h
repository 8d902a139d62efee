// Where plug-ins are looked for: the folders of INFERSCALE_POLICY_PATH, then those of
// --plugin-path.

#pragma once

#include "base/config_node.h"
#include "base/result.h"
#include "cli/arguments.h"
#include "plugin/plugins.h"

namespace inferscale {

// Gives a command the flag --plugin-path.
void declare_plugin_path(Arguments& arguments);

// Looks once, at the first call: tries every plug-in in a process of its own, and adds the good
// ones to the policies.
const PluginSearch& search_plugins();

// Readies a configuration's `admission` for reading: puts what the file admission.parameters.file
// of the policy `rules` holds in the place of these parameters, and looks for plug-ins. One that is
// of no use is an error only where the policy is neither shipped nor loaded. `folder`: where the
// configuration is, ending in "/", or empty.
Result<void> prepare_admission(ConfigNode& tree, const std::string& folder);

}  // namespace inferscale
