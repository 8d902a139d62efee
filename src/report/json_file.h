// Files of JSON: one object, or one a line. Errors name the file, and the line or the key.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "report/json_fields.h"

namespace inferscale {

// A file that holds one JSON object. At most 64 levels of maps and lists, since whatever walks over
// them later may recurse.
Result<Json> read_json_file(const std::string& path, std::uint64_t max_bytes);

// Calls `read` for the object of each line; an error that it keeps in its fields ends the reading.
Result<void> read_json_lines(const std::string& path, const std::function<void(JsonFields&)>& read);

}  // namespace inferscale
