// The classes of service of a run as a table.

#pragma once

#include <span>
#include <string>

#include "metrics/class_summary.h"

namespace inferscale {

// A row for each; empty without classes. `of`: what is counted, "requests".
std::string class_text(std::span<const ClassFigures> classes, const std::string& of);

}  // namespace inferscale
