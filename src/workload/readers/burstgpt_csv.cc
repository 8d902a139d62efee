// BurstGPT: Timestamp (s since the collection began), Request tokens, Response tokens; newer files
// add Session ID and Elapsed time. Model, Elapsed time, Total tokens and Log Type are not read.

#include <array>

#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"

namespace inferscale {
namespace {

enum Column : CsvIndex { kArrival, kPrompt, kOutput, kSession };

constexpr std::array<CsvColumn, 8> kColumns = {{{"Timestamp"},
                                                {"Request tokens"},
                                                {"Response tokens"},
                                                {"Session ID", false},
                                                {"Elapsed time", false},
                                                {"Model", false},
                                                {"Total tokens", false},
                                                {"Log Type", false}}};

}  // namespace

Result<void> read_burstgpt_csv(std::string header, LineReader& lines, TraceBuilder& builder) {
  Result<CsvRows> rows = CsvRows::open(lines, std::move(header), kColumns);
  if (!rows) return std::unexpected(rows.error());
  builder.set_columns({.session = rows->has(kSession)});
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
    if (rows->has(kSession)) {
      row.session = rows->cell(kSession);
      if (!is_name(row.session)) return rows->wrong(kSession, "at most 256 bytes of UTF-8 text");
    }
    row.arrival_ns = *arrival;
    row.prompt_tokens = *prompt;
    row.output_tokens = *output;
    const Result<void> added = builder.add(row, {kColumns[kArrival].name, rows->cell(kArrival)},
                                           {kColumns[kOutput].name, rows->cell(kOutput)}, lines);
    if (!added) return added;
  }
}

}  // namespace inferscale
