// The classes of service in summary.json.

#pragma once

#include <span>

#include "base/json_writer.h"
#include "metrics/class_summary.h"

namespace inferscale {

// docs/formats/run_folder.md, "slo_classes".
JsonValue classes_json(std::span<const ClassFigures> classes);

}  // namespace inferscale
