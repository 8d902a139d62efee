// A plug-in's policy as one of ours: its parameters read like those of every other policy, its
// functions behind the policy interface.
//
// A decision that can't be one (a return value other than 0, a verdict or a reason that there is
// not, an object that could not be made) is an admission marked as failed: the gate counts it, and
// does what `on_error` says.

#pragma once

#include "plugin/plugin_table.h"

namespace inferscale {

// REQUIRES: `table` outlives the entry and all policies that are made with it.
PolicyEntry plugin_entry(const PluginTable& table);

// Makes the policy with its defaults, where none is required, and asks for one decision with
// nothing known. An error when it can't be made; what it decides is not judged.
Result<void> try_plugin(const PluginTable& table);

}  // namespace inferscale
