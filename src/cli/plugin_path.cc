#include "cli/plugin_path.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "admission/registry.h"
#include "base/edge/yaml_config.h"

namespace inferscale {
namespace {

// What --plugin-path was given; one command is parsed in a process.
std::vector<std::string>& given_folders() {
  static std::vector<std::string> folders;
  return folders;
}

std::vector<std::string> all_folders() {
  std::vector<std::string> folders;
  const char* path = std::getenv("INFERSCALE_POLICY_PATH");
  if (path != nullptr) folders = split_search_path(path);
  for (const std::string& given : given_folders()) {
    for (std::string& folder : split_search_path(given)) folders.push_back(std::move(folder));
  }
  return folders;
}

const ConfigNode* scalar_at(const ConfigNode* map, std::string_view key) {
  const ConfigNode* value = map != nullptr ? map->find(key) : nullptr;
  return value != nullptr && value->kind() == ConfigNode::Kind::kScalar ? value : nullptr;
}

// A path that was given and is not there is a mistake, whichever policy is asked for.
Result<void> check_given_folders() {
  for (const std::string& given : given_folders()) {
    for (const std::string& path : split_search_path(given)) {
      std::error_code error;
      if (std::filesystem::exists(path, error)) continue;
      return fail(ErrorCode::kInvalidConfig,
                  "--plugin-path: '" + path + "': expected a folder of plug-ins, or one of them");
    }
  }
  return {};
}

Result<void> take_rule_file(ConfigNode& tree, const std::string& folder) {
  const ConfigNode* parameters = tree.find("admission")->find("parameters");
  const ConfigNode* file = scalar_at(parameters, "file");
  if (file == nullptr) return {};
  const std::string at = file->position().to_string();
  if (parameters->entries().size() > 1) {
    return fail(ErrorCode::kInvalidConfig,
                "admission.parameters.file: '" + file->text() +
                    "': expected no other parameter beside it: the file holds them all",
                at);
  }
  const std::string path = file->text().starts_with('/') ? file->text() : folder + file->text();
  Result<ConfigNode> rules = read_yaml_file(path);
  if (!rules) return std::unexpected(rules.error());
  if (!rules->is_map()) {
    return fail(
        ErrorCode::kInvalidConfig,
        "the file of rules holds " + rules->describe() + ": expected a map with the key 'rules'",
        path);
  }
  return tree.set_path("admission.parameters", std::move(*rules));
}

}  // namespace

void declare_plugin_path(Arguments& arguments) {
  arguments.repeated("--plugin-path", given_folders(),
                     "a folder of policies as plug-ins, or one of them; may be given again "
                     "(besides INFERSCALE_POLICY_PATH)");
}

const PluginSearch& search_plugins() {
  static const PluginSearch search = load_plugins(
      all_folders(), {.program = "/proc/self/exe", .arguments = {"policies", "probe"}});
  return search;
}

Result<void> prepare_admission(ConfigNode& tree, const std::string& folder) {
  if (Result<void> there = check_given_folders(); !there) return there;
  const PluginSearch& search = search_plugins();
  const ConfigNode* policy = scalar_at(tree.find("admission"), "policy");
  if (policy == nullptr) return {};
  if (policy->text() == "rules") return take_rule_file(tree, folder);
  if (find_policy(policy->text()) != nullptr) return {};
  // A plug-in that is of no use is an error when it could be the one that is asked for.
  if (!search.refused.empty()) return std::unexpected(search.refused.front());
  return {};
}

}  // namespace inferscale
