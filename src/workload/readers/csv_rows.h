// The rows of a CSV file with a header, by column name, strictly.
//
// Cells are separated by commas; spaces around a cell don't count; a cell in quotation marks may
// hold commas and doubled quotation marks, but no line end. Columns may come in any order. Each of
// these is an error that names its line: a column that is unknown, missing or there twice, a row
// with too few or too many cells, an empty line between rows. Empty lines at the end are fine.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/edge/input_file.h"
#include "base/result.h"

namespace inferscale {

struct CsvColumn {
  std::string_view name;
  bool required = true;
};

// What a row may say about one column, as an index into the columns handed to open().
using CsvIndex = std::size_t;

// Splits a line in place; views in `cells` point into it. False: a quotation mark is not closed, or
// followed by text.
bool split_csv_line(std::string& line, std::vector<std::string_view>& cells);

class CsvRows {
 public:
  // `header` is the line that `lines` gave last; both `lines` and `columns` outlive the rows.
  static Result<CsvRows> open(LineReader& lines, std::string header,
                              std::span<const CsvColumn> columns);

  // Goes to the next row; false at the end of the file.
  Result<bool> next();

  bool has(CsvIndex column) const { return positions_[column] >= 0; }
  // REQUIRES: has(column), next() gave true.
  std::string_view cell(CsvIndex column) const {
    return cells_[static_cast<std::size_t>(positions_[column])];
  }
  // The error about one cell: "file:line: column: 'value': expected ...".
  std::unexpected<Error> wrong(CsvIndex column, std::string_view expected) const;

 private:
  CsvRows(LineReader& lines, std::span<const CsvColumn> columns)
      : lines_(&lines), columns_(columns) {}
  Result<void> locate_columns(std::string header);

  LineReader* lines_;
  std::span<const CsvColumn> columns_;
  std::vector<std::ptrdiff_t> positions_;  // of each known column in a row; -1: not there
  std::size_t width_ = 0;
  std::string line_;
  std::vector<std::string_view> cells_;
};

// "'text'", cut to a length that fits an error message and without bytes that would harm a
// terminal.
std::string quoted_for_error(std::string_view text);

// "file:line" of the line that was read last.
std::string place_of(const LineReader& lines);

// The next line that isn't empty; false at the end of the file. An empty line before another one
// that isn't is an error.
Result<bool> next_filled_line(LineReader& lines, std::string& line);

}  // namespace inferscale
