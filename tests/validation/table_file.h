// A CSV file of measurements, row by row.

#pragma once

#include <span>
#include <string>

#include "base/edge/input_file.h"
#include "base/result.h"
#include "workload/readers/csv_rows.h"

namespace inferscale {

// Calls take_row(rows) for each row of `path`; `columns` are those that the file has. Stops at the
// first error, which is the file's or that of take_row.
template <typename TakeRow>
Result<void> read_table(const std::string& path, std::span<const CsvColumn> columns,
                        TakeRow take_row) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return std::unexpected(lines.error());
  std::string header;
  const Result<bool> first = lines->next(header);
  if (!first) return std::unexpected(first.error());
  if (!*first) return fail(ErrorCode::kInvalidInput, "expected a header, found nothing", path);
  Result<CsvRows> rows = CsvRows::open(*lines, header, columns);
  if (!rows) return std::unexpected(rows.error());
  for (;;) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    Result<void> taken = take_row(*rows);
    if (!taken) return taken;
  }
}

}  // namespace inferscale
