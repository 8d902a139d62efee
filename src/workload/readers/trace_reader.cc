#include "workload/readers/trace_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/edge/input_file.h"
#include "base/number_text.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"
#include "workload/readers/session_clock.h"
#include "workload/readers/session_trace_reader.h"
#include "workload/readers/trace_builder.h"

namespace inferscale {
namespace {

constexpr std::string_view kKnownFirstLines =
    "expected the header arrival_time,prompt_tokens,output_tokens (inferscale), "
    "TIMESTAMP,ContextTokens,GeneratedTokens (azure2023) or Timestamp,...,Request tokens,Response "
    "tokens,... (burstgpt) or trace_id,agent,...,in_tokens,out_tokens,... (claude_code_csv), or a "
    "JSON object with timestamp, input_length, output_length, hash_ids (mooncake) or with id, "
    "block_size, requests (claude_code_jsonl)";

std::string resolved(const std::string& file, const std::string& base_folder) {
  if (base_folder.empty() || file.starts_with('/')) return file;
  return base_folder.ends_with('/') ? base_folder + file : base_folder + "/" + file;
}

std::optional<TraceFormat> format_of(std::string first_line) {
  const std::size_t start = first_line.find_first_not_of(" \t");
  if (start != std::string::npos && first_line[start] == '{') {
    const bool sessions = first_line.find("\"requests\"") != std::string::npos;
    return sessions ? TraceFormat::kClaudeCodeJsonl : TraceFormat::kMooncake;
  }
  std::vector<std::string_view> cells;
  if (!split_csv_line(first_line, cells)) return std::nullopt;
  const auto has = [&](std::string_view name) {
    return std::find(cells.begin(), cells.end(), name) != cells.end();
  };
  if (has("ContextTokens") || has("GeneratedTokens")) return TraceFormat::kAzure2023;
  if (has("Request tokens") || has("Response tokens")) return TraceFormat::kBurstGpt;
  if (has("trace_id") || has("in_tokens")) return TraceFormat::kClaudeCodeCsv;
  if (has("arrival_time") || has("prompt_tokens") || has("output_tokens")) {
    return TraceFormat::kInferscale;
  }
  return std::nullopt;
}

Result<void> read_rows(TraceFormat format, std::string first_line, LineReader& lines,
                       TraceBuilder& builder, SessionClock& clock) {
  switch (format) {
    case TraceFormat::kInferscale:
      return read_inferscale_csv(std::move(first_line), lines, builder);
    case TraceFormat::kAzure2023:
      return read_azure_csv(std::move(first_line), lines, builder);
    case TraceFormat::kMooncake:
      return read_mooncake_jsonl(std::move(first_line), lines, builder);
    case TraceFormat::kBurstGpt:
      return read_burstgpt_csv(std::move(first_line), lines, builder);
    case TraceFormat::kClaudeCodeCsv:
      return read_claude_code_csv(std::move(first_line), lines, builder, clock);
    case TraceFormat::kClaudeCodeJsonl:
      return read_claude_code_jsonl(std::move(first_line), lines, builder, clock);
  }
  return {};
}

// Azure's timestamps are dates and BurstGPT's count from the start of the whole collection; in the
// other formats instant 0 is the run's own.
bool starts_at_its_first_row(TraceFormat format) {
  return format == TraceFormat::kAzure2023 || format == TraceFormat::kBurstGpt;
}

std::string session_times_note(const SessionClock& clock) {
  return std::string("the trace has times within sessions only; sessions begin ") +
         (clock.is_spread() ? "as trace.session_arrivals says"
                            : "together, at instant 0 (trace.session_arrivals spreads them)");
}

// Sessions that have no times of their calls, so that only `workload.sessions` can replay them.
std::optional<SessionTraceFormat> sessions_only(const std::string& first_line) {
  const std::optional<SessionTraceFormat> format = session_trace_format_of(first_line);
  const bool only = format == SessionTraceFormat::kSessionCallsJsonl ||
                    format == SessionTraceFormat::kTraceLabJsonl;
  return only ? format : std::nullopt;
}

Result<TraceFormat> find_format(const TraceOptions& options, const std::string& first_line,
                                const LineReader& lines) {
  if (options.format) return *options.format;
  if (const auto sessions = sessions_only(first_line)) {
    return fail(ErrorCode::kInvalidInput,
                "agent sessions (" + std::string(session_trace_format_name(*sessions)) +
                    "), no trace of single requests: expected " +
                    (options.by_flags ? "`inferscale trace sessions`, which shows what they hold"
                                      : "workload.sessions.trace, and the command agents"),
                place_of(lines));
  }
  const std::optional<TraceFormat> format = format_of(first_line);
  if (format) return *format;
  return fail(ErrorCode::kInvalidInput,
              "unknown kind of trace: the first line is " + quoted_for_error(first_line) + ": " +
                  std::string(kKnownFirstLines),
              place_of(lines));
}

std::unexpected<Error> refuse_scale(const TraceOptions& options, const std::string& expected,
                                    const std::string& path) {
  return fail(ErrorCode::kInvalidConfig,
              "trace.rate_scale: '" + number_text(options.rate_scale) + "': expected " + expected,
              path);
}

}  // namespace

Result<Trace> read_trace(const TraceOptions& options, const std::string& base_folder,
                         std::uint64_t run_seed) {
  const std::string path = resolved(options.file, base_folder);
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return std::unexpected(lines.error());
  std::string first_line;
  const Result<bool> any = lines->next(first_line);
  if (!any) return std::unexpected(any.error());
  if (!*any) {
    return fail(ErrorCode::kInvalidInput, "empty file: " + std::string(kKnownFirstLines), path);
  }
  const Result<TraceFormat> format = find_format(options, first_line, *lines);
  if (!format) return std::unexpected(format.error());
  if (options.session_arrivals && !has_session_times(*format)) {
    return fail(ErrorCode::kInvalidConfig,
                "trace.session_arrivals: expected no such key with format " +
                    std::string(trace_format_name(*format)) + ", whose times are the whole trace's",
                path);
  }
  if (options.rate_scale != 1 && has_session_times(*format) && !options.session_arrivals) {
    return refuse_scale(options,
                        "1 without trace.session_arrivals: all sessions begin at 0, and only their "
                        "beginnings would be scaled",
                        path);
  }
  TraceBuilder builder(*format, options);
  SessionClock clock(options, run_seed);
  Result<void> read = read_rows(*format, std::move(first_line), *lines, builder, clock);
  if (!read) return std::unexpected(read.error());
  if (has_session_times(*format)) builder.note_change(session_times_note(clock));
  Result<Trace> trace = builder.finish(starts_at_its_first_row(*format), path);
  if (!trace) return trace;
  trace->file_name = path.substr(path.find_last_of('/') + 1);
  trace->crc32 = lines->crc32();
  jitter_arrivals(*trace, options.jitter, RandomStream(run_seed, "trace_jitter"));
  // Last, so that the same rows are scaled as without it, and the clock's ticks with their jitter.
  if (!scale_arrivals(*trace, options.rate_scale)) {
    return refuse_scale(options, "a factor with which the last arrival comes within 9e9 s", path);
  }
  trace->session_begin_ns = {};
  return trace;
}

}  // namespace inferscale
