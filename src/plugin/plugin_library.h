// Loads a plug-in into this process, or tries that in a child first.
//
// What runs when a shared object is loaded, and what its table's functions do, can't be guarded
// against inside the process. So the program starts itself again as a child whose only job is to
// load the plug-in, make its policy and ask for one decision. A child that crashes, hangs or ends
// early costs nothing but its own life, and this process learns why.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "plugin/plugin_table.h"

namespace inferscale {

// Never unloaded again. Errors: not a shared object, a missing symbol, a wrong version or table.
Result<PluginTable> open_plugin(const std::string& path);

struct ProbeCommand {
  std::string program;                 // to start
  std::vector<std::string> arguments;  // before the path of the plug-in
  std::chrono::milliseconds timeout{5000};
};

// What the child does: opens and tries the plug-in, and reports on standard output. Anything that
// the plug-in itself writes there goes to standard error.
void report_probe(const std::string& path);

// Runs the command with the path and takes its report. Waits no longer than the time-out.
Result<void> probe_plugin(const ProbeCommand& command, const std::string& path);

}  // namespace inferscale
