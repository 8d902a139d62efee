#include "plugin/plugins.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "admission/registry.h"
#include "plugin/plugin_policy.h"

namespace inferscale {
namespace {

namespace fs = std::filesystem;

// Tables stay where they are for as long as the program runs: policies refer to them.
std::deque<PluginTable>& kept_tables() {
  static std::deque<PluginTable> tables;
  return tables;
}

Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder, error)) return std::vector<std::string>{folder};
  fs::directory_iterator place(folder, error);
  if (error) {
    return fail(ErrorCode::kNotFound, "a folder of plug-ins: " + error.message(), folder);
  }
  std::vector<std::string> files;
  for (; !error && place != fs::directory_iterator(); place.increment(error)) {
    if (place->path().extension() == ".so") files.push_back(place->path().string());
  }
  if (error) return fail(ErrorCode::kIo, "a folder of plug-ins: " + error.message(), folder);
  std::sort(files.begin(), files.end());
  return files;
}

Result<LoadedPlugin> load(const std::string& path, const ProbeCommand& probe) {
  if (const Result<void> fine = probe_plugin(probe, path); !fine) {
    return std::unexpected(fine.error());
  }
  Result<PluginTable> table = open_plugin(path);
  if (!table) return std::unexpected(table.error());
  kept_tables().push_back(std::move(*table));
  const PluginTable& kept = kept_tables().back();
  if (Result<void> added = add_policies({plugin_entry(kept)}); !added) {
    return fail(added.error().code, "plug-in: " + added.error().message, path);
  }
  return LoadedPlugin{.policy = kept.policy.name,
                      .path = path,
                      .version = kept.policy.version != nullptr ? kept.policy.version : ""};
}

}  // namespace

std::vector<std::string> split_search_path(const std::string& path) {
  std::vector<std::string> parts;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    if (!part.empty()) parts.emplace_back(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return parts;
}

PluginSearch load_plugins(std::span<const std::string> folders, const ProbeCommand& probe) {
  PluginSearch search;
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> files = files_of(folder);
    if (!files) {
      search.refused.push_back(files.error());
      continue;
    }
    for (const std::string& file : *files) {
      Result<LoadedPlugin> loaded = load(file, probe);
      if (loaded) {
        search.loaded.push_back(std::move(*loaded));
      } else {
        search.refused.push_back(loaded.error());
      }
    }
  }
  return search;
}

}  // namespace inferscale
