// Tables for people: aligned columns of text, numbers to the right.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inferscale {

class TextTable {
 public:
  // A name that begins with '>' makes a column of numbers, aligned to
  // the right (the '>' is not shown).
  explicit TextTable(std::vector<std::string> columns);
  // REQUIRES: as many cells as there are columns.
  void add(std::vector<std::string> cells);
  // Lines of two leading spaces, columns two spaces apart, no trailing spaces.
  std::string text() const;

 private:
  std::vector<std::string> columns_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that `text` takes on a terminal: UTF-8 code points, each one column wide.
std::size_t display_width(std::string_view text);

// A number for a table: three significant digits or more, thousands as they are: 0.0123, 4.56,
// 123.4, 12345.
std::string short_number(double value);

}  // namespace inferscale
