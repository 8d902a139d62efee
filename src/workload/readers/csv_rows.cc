#include "workload/readers/csv_rows.h"

#include <algorithm>
#include <utility>

namespace inferscale {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string listed(std::span<const CsvColumn> columns) {
  std::string names;
  for (const CsvColumn& column : columns) {
    if (!names.empty()) names += ", ";
    names += std::string(column.name) + (column.required ? "" : " (optional)");
  }
  return names;
}

// Takes the quoted cell that begins at `begin` and writes its content back there, unescaped.
// Returns where the cell ends (the comma, or the line's end), or npos when it is malformed.
std::size_t take_quoted(std::string& line, std::size_t begin, std::string_view& cell) {
  std::size_t write = begin;
  for (std::size_t read = begin + 1; read < line.size(); ++read) {
    if (line[read] == '"') {
      if (read + 1 == line.size() || line[read + 1] != '"') {
        cell = std::string_view(line).substr(begin, write - begin);
        const std::size_t end = std::min(line.find(',', read), line.size());
        return trimmed(std::string_view(line).substr(read + 1, end - read - 1)).empty()
                   ? end
                   : std::string::npos;
      }
      ++read;
    }
    line[write++] = line[read];
  }
  return std::string::npos;
}

}  // namespace

bool split_csv_line(std::string& line, std::vector<std::string_view>& cells) {
  cells.clear();
  std::size_t begin = 0;
  for (;;) {
    const std::size_t first = std::min(line.find_first_not_of(kBlank, begin), line.size());
    std::size_t end = 0;
    std::string_view cell;
    if (first < line.size() && line[first] == '"') {
      end = take_quoted(line, first, cell);
      if (end == std::string::npos) return false;
    } else {
      end = std::min(line.find(',', begin), line.size());
      cell = trimmed(std::string_view(line).substr(begin, end - begin));
    }
    cells.push_back(cell);
    if (end == line.size()) return true;
    begin = end + 1;
  }
}

Result<CsvRows> CsvRows::open(LineReader& lines, std::string header,
                              std::span<const CsvColumn> columns) {
  CsvRows rows(lines, columns);
  if (Result<void> located = rows.locate_columns(std::move(header)); !located) {
    return std::unexpected(located.error());
  }
  return rows;
}

Result<void> CsvRows::locate_columns(std::string header) {
  const auto refuse = [&](std::string message) {
    return fail(ErrorCode::kInvalidInput, std::move(message), place_of(*lines_));
  };
  if (!split_csv_line(header, cells_)) return refuse("header: a quotation mark is not closed");
  positions_.assign(columns_.size(), -1);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto known = std::find_if(columns_.begin(), columns_.end(), [&](const CsvColumn& column) {
      return column.name == cells_[i];
    });
    if (known == columns_.end()) {
      return refuse("header: unknown column " + quoted_for_error(cells_[i]) + ": expected " +
                    listed(columns_));
    }
    std::ptrdiff_t& position = positions_[static_cast<std::size_t>(known - columns_.begin())];
    if (position >= 0) {
      return refuse("header: column " + quoted_for_error(cells_[i]) + " is there twice");
    }
    position = static_cast<std::ptrdiff_t>(i);
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].required && positions_[i] < 0) {
      return refuse("header: no column '" + std::string(columns_[i].name) + "': expected " +
                    listed(columns_));
    }
  }
  width_ = cells_.size();
  return {};
}

Result<bool> CsvRows::next() {
  Result<bool> more = next_filled_line(*lines_, line_);
  if (!more || !*more) return more;
  if (!split_csv_line(line_, cells_)) {
    return fail(ErrorCode::kInvalidInput,
                "a quotation mark is not closed, or followed by text: expected \"...\" with each "
                "quotation mark inside doubled",
                place_of(*lines_));
  }
  if (cells_.size() != width_) {
    return fail(ErrorCode::kInvalidInput,
                std::to_string(cells_.size()) + " cells: expected " + std::to_string(width_) +
                    ", one for each column of the header",
                place_of(*lines_));
  }
  return true;
}

std::unexpected<Error> CsvRows::wrong(CsvIndex column, std::string_view expected) const {
  return fail(ErrorCode::kInvalidInput,
              std::string(columns_[column].name) + ": " + quoted_for_error(cell(column)) +
                  ": expected " + std::string(expected),
              place_of(*lines_));
}

std::string quoted_for_error(std::string_view text) {
  constexpr std::size_t kMostShown = 60;
  std::string shown = "'";
  for (char c : text.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return shown + (text.size() > kMostShown ? "...'" : "'");
}

std::string place_of(const LineReader& lines) {
  return lines.path() + ":" + std::to_string(lines.line_number());
}

Result<bool> next_filled_line(LineReader& lines, std::string& line) {
  std::int64_t blank = 0;
  for (;;) {
    Result<bool> more = lines.next(line);
    if (!more || !*more) return more;
    if (line.find_first_not_of(kBlank) != std::string::npos) break;
    if (blank == 0) blank = lines.line_number();
  }
  if (blank == 0) return true;
  return fail(ErrorCode::kInvalidInput, "an empty line between rows: expected a row",
              lines.path() + ":" + std::to_string(blank));
}

}  // namespace inferscale
