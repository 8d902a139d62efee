// Where the measurements are that the tests compare with: not part of the project, so a test that
// needs them is skipped, visibly, where the folder is absent.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace inferscale {

// INFERSCALE_DATA, or else a folder beside the project's.
inline std::filesystem::path data_folder() {
  const char* data = std::getenv("INFERSCALE_DATA");
  if (data != nullptr) return data;
  return std::filesystem::path(INFERSCALE_SOURCE_DIR) / ".." / "shared" / "data";
}

inline std::string data_file(std::string_view name) {
  return (data_folder() / name).string();
}

inline bool has_data() {
  return std::filesystem::exists(data_folder());
}

}  // namespace inferscale
