// YAML as a configuration tree with positions. The only place that includes the YAML library.
//
// Taken: one document of maps, lists and scalars. Refused, each with its line: duplicate keys,
// more than one document, anchors and aliases (they make small files large), tags, keys that are
// empty or not scalars, nesting deeper than 64, more than a million values, files over 16 MiB,
// bytes that are not UTF-8 text, control characters, quotation marks that are never closed.

#pragma once

#include <string>
#include <string_view>

#include "base/config_node.h"
#include "base/result.h"

namespace inferscale {

// An empty document is a null node. Errors are kInvalidConfig. `source` is the file's name for
// positions.
Result<ConfigNode> parse_yaml(std::string_view text, const std::string& source);
// A gzip file is unpacked. Errors as above, kNotFound when there is no such file, and kIo when the
// machine refuses it.
Result<ConfigNode> read_yaml_file(const std::string& path);

// Applies "key.path=value" (the value is YAML: a number, text, [list] or {map}) to `root`; an empty
// value is null. What is set has the position `source`, the flag's name, without a line.
Result<void> apply_setting(ConfigNode& root, std::string_view assignment,
                           std::string_view source = "--set");

}  // namespace inferscale
