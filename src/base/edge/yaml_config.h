// YAML as a configuration tree with positions. The only place that includes the YAML library.
//
// Taken: one document of maps, lists and scalars. Refused, each with its line: duplicate keys,
// more than one document, anchors and aliases (they make small files large), tags, keys that are
// not scalars, nesting deeper than 64, files over 16 MiB, bytes that are not UTF-8 text.

#pragma once

#include <string>
#include <string_view>

#include "base/config_node.h"
#include "base/result.h"

namespace inferscale {

// An empty document is a null node. Errors are kInvalidConfig (kNotFound for the file itself).
Result<ConfigNode> parse_yaml(std::string_view text, const std::string& source);
Result<ConfigNode> read_yaml_file(const std::string& path);

// Applies "key.path=value" (the value is YAML: a number, text, [list] or {map}) to `root`.
Result<void> apply_setting(ConfigNode& root, std::string_view assignment);

// The tree as YAML or JSON text, for the record of a run.
std::string to_json_text(const ConfigNode& node);

}  // namespace inferscale
