// In which keys two configurations differ.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_node.h"

namespace inferscale {

struct ConfigDifference {
  std::string key;       // "deployment.engine.scheduler"
  std::string baseline;  // as written: "vllm", "256", "[1,2]"; "null" also where there is no key
  std::string treatment;
  bool operator==(const ConfigDifference&) const = default;
};

// In the baseline's order, then what only the treatment has. Maps are compared key by key, unless
// one of the two is none; lists as a whole. The keys of the root in `but` are left out.
std::vector<ConfigDifference> config_differences(const ConfigNode& baseline,
                                                 const ConfigNode& treatment,
                                                 std::span<const std::string_view> but);

}  // namespace inferscale
