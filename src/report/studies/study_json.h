// The result of a study as its file has it, ready to be read by the texts for people.

#pragma once

#include <string>

#include "base/result.h"
#include "report/json_fields.h"

namespace inferscale {

// A result.json of kind `kind`, checked to be one.
Result<Json> parse_study_result(const std::string& result_json, const std::string& kind);

}  // namespace inferscale
