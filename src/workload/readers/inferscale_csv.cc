// The project's own format: arrival_time (s), prompt_tokens, output_tokens, and four optional
// columns that are carried along.

#include <array>
#include <limits>

#include "base/number_text.h"
#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"

namespace inferscale {
namespace {

enum Column : CsvIndex { kArrival, kPrompt, kOutput, kTenant, kSession, kPriority, kDeadline };

constexpr std::array<CsvColumn, 7> kColumns = {{{"arrival_time"},
                                                {"prompt_tokens"},
                                                {"output_tokens"},
                                                {"tenant", false},
                                                {"session", false},
                                                {"priority", false},
                                                {"deadline_ms", false}}};

Result<void> read_carried(const CsvRows& rows, TraceRow& row) {
  for (CsvIndex column : {kTenant, kSession}) {
    if (!rows.has(column)) continue;
    if (!is_name(rows.cell(column))) {
      return rows.wrong(column, "at most 256 bytes of UTF-8 text");
    }
    (column == kTenant ? row.tenant : row.session) = rows.cell(column);
  }
  if (rows.has(kPriority) && !rows.cell(kPriority).empty()) {
    const auto priority = parse_whole(rows.cell(kPriority));
    if (!priority || *priority < -1'000'000 || *priority > 1'000'000) {
      return rows.wrong(kPriority, "a whole number from -1000000 to 1000000, or nothing");
    }
    row.priority = *priority;
  }
  if (rows.has(kDeadline)) {
    row.deadline_ms = std::numeric_limits<double>::quiet_NaN();
    if (!rows.cell(kDeadline).empty()) {
      const auto deadline = parse_finite(rows.cell(kDeadline));
      if (!deadline || !(*deadline > 0) || *deadline > 1e12) {
        return rows.wrong(kDeadline, "milliseconds greater than 0 and at most 1e12, or nothing");
      }
      row.deadline_ms = *deadline;
    }
  }
  return {};
}

}  // namespace

Result<void> read_inferscale_csv(std::string header, LineReader& lines, TraceBuilder& builder) {
  Result<CsvRows> rows = CsvRows::open(lines, std::move(header), kColumns);
  if (!rows) return std::unexpected(rows.error());
  builder.set_columns({.tenant = rows->has(kTenant),
                       .session = rows->has(kSession),
                       .priority = rows->has(kPriority),
                       .deadline = rows->has(kDeadline)});
  for (;;) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    TraceRow row;
    const auto arrival = scaled_decimal(rows->cell(kArrival), 9);
    if (!arrival || *arrival < 0) {
      return rows->wrong(kArrival, "seconds from 0 to 9000000000, as a decimal number");
    }
    const auto prompt = token_count(rows->cell(kPrompt), 1);
    if (!prompt) return rows->wrong(kPrompt, "a whole number from 1 to 10000000");
    const auto output = token_count(rows->cell(kOutput), 0);
    if (!output) return rows->wrong(kOutput, "a whole number from 1 to 10000000");
    row.arrival_ns = *arrival;
    row.prompt_tokens = *prompt;
    row.output_tokens = *output;
    if (Result<void> carried = read_carried(*rows, row); !carried) return carried;
    const Result<void> added = builder.add(row, {kColumns[kArrival].name, rows->cell(kArrival)},
                                           {kColumns[kOutput].name, rows->cell(kOutput)}, lines);
    if (!added) return added;
  }
}

}  // namespace inferscale
