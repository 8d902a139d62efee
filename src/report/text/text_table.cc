#include "report/text/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace inferscale {

TextTable::TextTable(std::vector<std::string> columns) : columns_(std::move(columns)) {
  for (std::string& column : columns_) {
    const bool number = column.starts_with('>');
    if (number) column.erase(0, 1);
    right_.push_back(number);
  }
}

void TextTable::add(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size()) << cells.size() << " cells in a row of a table";
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  };
  widen(columns_);
  for (const auto& row : rows_) widen(row);

  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - display_width(row[i]), ' ');
      text += "  " + (right_[i] ? pad + row[i] : row[i] + pad);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(columns_);
  for (const auto& row : rows_) line(row);
  return out;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string short_number(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return "0";
  if (magnitude >= 100) return fmt::format("{:.0f}", value);
  if (magnitude >= 10) return fmt::format("{:.1f}", value);
  if (magnitude >= 1) return fmt::format("{:.2f}", value);
  if (magnitude >= 0.001) return fmt::format("{:.3g}", value);
  return fmt::format("{:.2e}", value);
}

}  // namespace inferscale
