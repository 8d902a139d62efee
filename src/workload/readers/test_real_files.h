// The real files of the data folder's traces, for tests that are skipped where it isn't.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/edge/input_file.h"

namespace inferscale {

inline std::string traces_folder() {
  const char* data = std::getenv("INFERSCALE_DATA");
  const std::filesystem::path root = INFERSCALE_SOURCE_DIR;
  const std::filesystem::path folder =
      data != nullptr ? std::filesystem::path(data) : root / ".." / "shared" / "data";
  return (folder / "traces").string();
}

using Row = std::vector<std::string>;

// The cells of a file without quotation marks, header left out.
inline std::vector<Row> rows_of(const std::string& file) {
  std::vector<Row> rows;
  Result<LineReader> lines = LineReader::open(traces_folder() + "/" + file);
  EXPECT_TRUE(lines.has_value());
  std::string line;
  while (lines && lines->next(line).value_or(false)) {
    Row& row = rows.emplace_back();
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

}  // namespace inferscale
