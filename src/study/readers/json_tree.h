// JSON text as a configuration tree, for files that hold one value a line.

#pragma once

#include <string>
#include <string_view>

#include "base/config_node.h"

namespace inferscale {

// All of the tree has the position `at`. Numbers keep the text that was written. Errors
// (kInvalidInput): what is not JSON, a key twice in one object, nesting deeper than 64.
Result<ConfigNode> parse_json_tree(std::string_view text, const SourcePosition& at);

}  // namespace inferscale
