#include "study/comparison/config_difference.h"

#include <algorithm>

#include "base/config_json.h"

namespace inferscale {
namespace {

std::string written(const ConfigNode* node) {
  if (node == nullptr) return "null";
  return node->kind() == ConfigNode::Kind::kScalar ? node->text() : to_json_text(*node);
}

void compare(const std::string& path, const ConfigNode* baseline, const ConfigNode* treatment,
             std::vector<ConfigDifference>& differences) {
  const bool maps =
      baseline != nullptr && treatment != nullptr && baseline->is_map() && treatment->is_map();
  if (!maps) {
    std::string before = written(baseline);
    std::string after = written(treatment);
    if (before != after) differences.push_back({path, std::move(before), std::move(after)});
    return;
  }
  const std::string prefix = path.empty() ? path : path + ".";
  for (const ConfigNode::Entry& entry : baseline->entries()) {
    compare(prefix + entry.key, &entry.value, treatment->find(entry.key), differences);
  }
  for (const ConfigNode::Entry& entry : treatment->entries()) {
    if (baseline->find(entry.key) != nullptr) continue;
    compare(prefix + entry.key, nullptr, &entry.value, differences);
  }
}

}  // namespace

std::vector<ConfigDifference> config_differences(const ConfigNode& baseline,
                                                 const ConfigNode& treatment,
                                                 std::span<const std::string_view> but) {
  std::vector<ConfigDifference> differences;
  compare("", &baseline, &treatment, differences);
  std::erase_if(differences, [&](const ConfigDifference& difference) {
    const std::string_view key = difference.key;
    return std::find(but.begin(), but.end(), key.substr(0, key.find('.'))) != but.end();
  });
  return differences;
}

}  // namespace inferscale
