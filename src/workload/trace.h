// A recorded workload in memory, one column an array, and the requests that it stands for.
//
// Rows are what the file said: nothing is rounded, scaled or reordered unless an option asked for
// it, and then `changes` says so. Every row of the file is accounted for:
// rows_in_file = rows() + rows_failed + rows_beyond_limit.
//
// Memory: 16 bytes a row, 4 or 8 more for each optional column; for content 8 a row and 16 a piece.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "core/carried_columns.h"
#include "workload/arrivals.h"
#include "workload/request_source.h"
#include "workload/trace_content.h"

namespace inferscale {

enum class TraceFormat : std::uint8_t {
  kInferscale,
  kAzure2023,
  kMooncake,
  kBurstGpt,
  kClaudeCodeCsv,
  kClaudeCodeJsonl,
};

// As in the configuration: "inferscale", "azure2023", "mooncake", "burstgpt", "claude_code_csv",
// "claude_code_jsonl".
std::string_view trace_format_name(TraceFormat format);
std::optional<TraceFormat> trace_format_named(std::string_view name);
// Whether its times count from the beginning of each row's session, not of the trace.
bool has_session_times(TraceFormat format);

struct TraceOptions {
  std::string file;
  std::optional<TraceFormat> format;   // nothing: found by the first line
  bool sort = false;                   // put rows that are out of order in order of arrival
  bool skip_failed = false;            // leave out rows without output tokens, and count them
  std::optional<std::uint64_t> limit;  // the first so many rows, in order of arrival
  Duration jitter;        // each arrival is moved later by a uniform draw from [0, jitter)
  double rate_scale = 1;  // so many times the requests, or sessions, in the same time
  // The options are a command's flags: errors name these instead of keys.
  bool by_flags = false;
  // When the sessions of a format begin that has times within sessions only, in the order of the
  // file; nothing: all at instant 0.
  std::optional<ArrivalOptions> session_arrivals;
};

struct Trace {
  TraceFormat format = TraceFormat::kInferscale;
  std::string file_name;    // without its folder
  std::uint32_t crc32 = 0;  // of the unpacked text
  std::uint64_t rows_in_file = 0;
  std::uint64_t rows_failed = 0;        // left out by skip_failed
  std::uint64_t rows_beyond_limit = 0;  // left out by limit
  // What was subtracted from every timestamp of the file; 0 where the format counts from 0.
  std::int64_t origin_ns = 0;
  std::vector<std::string> changes;  // how the rows differ from the file's, a sentence each

  std::vector<std::int64_t> arrival_ns;
  std::vector<std::uint32_t> prompt_tokens;
  std::vector<std::uint32_t> output_tokens;

  // Optional columns are empty, or as long as the trace. Empty cells are as in CarriedColumns.
  std::vector<std::uint32_t> tenant;
  std::vector<std::string> tenant_names;  // in the order of their first row in the file
  std::vector<std::uint32_t> session;
  std::vector<std::string> session_names;
  std::vector<std::int64_t> priority;
  std::vector<double> deadline_ms;
  // When the session of each row began, where the file says it otherwise than by the session's
  // first row. Only kept until the arrivals are scaled.
  std::vector<std::int64_t> session_begin_ns;

  // What prompts share, where the file says it.
  TraceContent content;

  std::size_t rows() const { return arrival_ns.size(); }
  CarriedColumns carried() const;
};

// Puts the rows in order of arrival; rows of the same instant keep their order. Returns how many
// rows were earlier than the one above them.
std::uint64_t sort_by_arrival(Trace& trace);

// Keeps the first `limit` rows and counts the others as beyond the limit.
void keep_first_rows(Trace& trace, std::uint64_t limit);

// Moves each arrival later by a draw from [0, jitter) and sorts again: a derived workload, said in
// `changes`. It spreads arrivals that a coarse clock stamped with the same instant.
void jitter_arrivals(Trace& trace, Duration jitter, RandomStream stream);

// Divides the arrival times of requests by `rate_scale`; of the rows of a session only the
// session's beginning, so that the gaps inside it stay. Sorts again. A derived workload, said in
// `changes`. False, and nothing is changed, when an arrival would come after kLatestArrival.
// REQUIRES: rate_scale is above 0; rows are in order of arrival.
bool scale_arrivals(Trace& trace, double rate_scale);

// The requests of a trace: ids are row numbers, the caller's limit is the answer's length. A row
// without a priority has priority 0.
class TraceSource final : public RequestSource {
 public:
  // REQUIRES: `trace` outlives the source and is in order of arrival.
  explicit TraceSource(const Trace& trace);
  bool next(Request& request) override;
  std::uint64_t size() const override { return trace_.rows(); }

 private:
  const Trace& trace_;
  std::size_t row_ = 0;
};

}  // namespace inferscale
