// Azure LLM inference traces: TIMESTAMP (UTC), ContextTokens, GeneratedTokens. The traces of 2023
// have seven digits of fraction (100 ns) and no zone, those of 2024 six and +00:00.

#include <array>

#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"

namespace inferscale {
namespace {

enum Column : CsvIndex { kArrival, kPrompt, kOutput };

constexpr std::array<CsvColumn, 3> kColumns = {
    {{"TIMESTAMP"}, {"ContextTokens"}, {"GeneratedTokens"}}};

}  // namespace

Result<void> read_azure_csv(std::string header, LineReader& lines, TraceBuilder& builder) {
  Result<CsvRows> rows = CsvRows::open(lines, std::move(header), kColumns);
  if (!rows) return std::unexpected(rows.error());
  for (;;) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    TraceRow row;
    const auto arrival = utc_nanoseconds(rows->cell(kArrival));
    if (!arrival) {
      return rows->wrong(kArrival,
                         "a UTC time such as 2023-11-16 18:17:03.9799600 (optionally "
                         "with +00:00), 1970 to 2200");
    }
    const auto prompt = token_count(rows->cell(kPrompt), 1);
    if (!prompt) return rows->wrong(kPrompt, "a whole number from 1 to 10000000");
    const auto output = token_count(rows->cell(kOutput), 0);
    if (!output) return rows->wrong(kOutput, "a whole number from 1 to 10000000");
    row.arrival_ns = *arrival;
    row.prompt_tokens = *prompt;
    row.output_tokens = *output;
    const Result<void> added = builder.add(row, {kColumns[kArrival].name, rows->cell(kArrival)},
                                           {kColumns[kOutput].name, rows->cell(kOutput)}, lines);
    if (!added) return added;
  }
}

}  // namespace inferscale
