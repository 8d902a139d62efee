// A configuration tree as JSON text, and scalars made by a program.

#pragma once

#include <string>

#include "base/config_node.h"

namespace inferscale {

// The tree as compact JSON: for the record of a run, and for telling whether two are the same.
// Keys stay in the order in which they were written, numbers and true and false stay what they are,
// everything else becomes a string; bytes that are not UTF-8 become U+FFFD.
std::string to_json_text(const ConfigNode& node);

// Scalars as if somebody had written them; `source` is what errors about them name.
ConfigNode number_node(double value, const std::string& source);
ConfigNode text_node(std::string value, const std::string& source);

}  // namespace inferscale
