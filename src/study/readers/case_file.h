// Reads a file of measured cases (docs/formats/validation_cases.md), plain or gzip.
//
// YAML (.yaml, .yml, .json): a map with `cases`, or the list itself. JSON lines (.jsonl, .ndjson):
// a case on each line; empty lines are left out.

#pragma once

#include <string>

#include "base/config_node.h"

namespace inferscale {

// The tree that read_cases() takes: always a map with `cases`.
Result<ConfigNode> read_case_file(const std::string& path);
// The same of YAML text.
Result<ConfigNode> parse_case_text(std::string_view text, const std::string& source);

}  // namespace inferscale
