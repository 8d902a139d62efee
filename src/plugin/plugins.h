// The plug-ins of a search path: found, tried, loaded and added to the table of policies.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plugin/plugin_library.h"

namespace inferscale {

// A plug-in whose policy is in the table.
struct LoadedPlugin {
  std::string policy;
  std::string path;
  std::string version;  // the plug-in's own; may be empty
};

struct PluginSearch {
  std::vector<LoadedPlugin> loaded;
  std::vector<Error> refused;  // one for each file that is of no use, and each folder that is not
};

// The folders of "a:b:c", without empty parts.
std::vector<std::string> split_search_path(const std::string& path);

// Loads every "*.so" of the folders, in their order and by name within each; a folder may also be
// the path of a file. Each is tried in a child process first. To be called at start-up, once.
PluginSearch load_plugins(std::span<const std::string> folders, const ProbeCommand& probe);

}  // namespace inferscale
