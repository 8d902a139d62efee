#include "workload/readers/session_trace_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/edge/input_file.h"
#include "base/number_text.h"
#include "base/random.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/sessions/alike_sessions.h"
#include "workload/readers/sessions/context_limit.h"
#include "workload/readers/sessions/session_formats.h"

namespace inferscale {
namespace {

constexpr std::string_view kKnownFirstLines =
    "expected the header trace_id,agent,...,in_tokens,out_tokens,... (claude_code_csv), or a JSON "
    "object with id, block_size, requests (claude_code_jsonl), with session_id, sub_requests "
    "(session_calls_jsonl), with session_id, round_index, prefix_tokens (tracelab_jsonl) or with "
    "timestamp, input_length, output_length, hash_ids (mooncake_jsonl)";

Result<void> read_rows(SessionTraceFormat format, std::string first_line, LineReader& lines,
                       RecordedTrace& trace) {
  switch (format) {
    case SessionTraceFormat::kClaudeCodeCsv:
      return read_claude_code_csv_sessions(std::move(first_line), lines, trace);
    case SessionTraceFormat::kClaudeCodeJsonl:
      return read_claude_code_jsonl_sessions(std::move(first_line), lines, trace);
    case SessionTraceFormat::kSessionCallsJsonl:
      return read_session_calls_jsonl(std::move(first_line), lines, trace);
    case SessionTraceFormat::kTraceLabJsonl:
      return read_tracelab_jsonl(std::move(first_line), lines, trace);
    case SessionTraceFormat::kMooncakeJsonl:
      return read_mooncake_sessions(lines.path(), trace);
  }
  return {};
}

void cut_gaps(Duration longest, bool by_flags, RecordedTrace& trace) {
  std::uint64_t cut = 0;
  const auto shorten = [&](Duration& gap) {
    if (gap <= longest) return;
    gap = longest;
    ++cut;
  };
  for (RecordedSession& session : trace.sessions) {
    for (RecordedChain& chain : session.chains) {
      shorten(chain.delay);
      shorten(chain.rest);
      for (RecordedCall& call : chain.calls) shorten(call.gap);
    }
  }
  if (cut == 0) return;
  trace.notes.push_back(counted(cut, "gap", "gaps") + " cut to " +
                        (by_flags ? "--longest-gap, " : "trace.longest_gap_s, ") +
                        number_text(longest.seconds()) + " s: a derived workload");
}

void take_first(std::uint64_t limit, RecordedTrace& trace) {
  if (trace.sessions.size() <= limit) return;
  trace.notes.push_back("the first " + counted(limit, "session", "sessions") + " of " +
                        std::to_string(trace.sessions.size()) + " (trace.limit)");
  trace.sessions.resize(limit);
}

// What a file begins with.
struct Opening {
  LineReader lines;
  std::string first_line;
  SessionTraceFormat format;
};

Result<Opening> open_trace(const SessionTraceOptions& options, const std::string& path) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return std::unexpected(lines.error());
  std::string first_line;
  const Result<bool> any = lines->next(first_line);
  if (!any) return std::unexpected(any.error());
  if (!*any) {
    return fail(ErrorCode::kInvalidInput, "empty file: " + std::string(kKnownFirstLines), path);
  }
  const auto format = options.format ? options.format : session_trace_format_of(first_line);
  if (!format) {
    return fail(ErrorCode::kInvalidInput,
                "unknown kind of session trace: the first line is " + quoted_for_error(first_line) +
                    ": " + std::string(kKnownFirstLines),
                place_of(*lines));
  }
  return Opening{*std::move(lines), std::move(first_line), *format};
}

}  // namespace

std::optional<SessionTraceFormat> session_trace_format_of(std::string first_line) {
  const std::size_t start = first_line.find_first_not_of(" \t");
  if (start != std::string::npos && first_line[start] == '{') {
    const auto has = [&](const char* key) { return first_line.find(key) != std::string::npos; };
    if (has("\"sub_requests\"")) return SessionTraceFormat::kSessionCallsJsonl;
    if (has("\"round_index\"")) return SessionTraceFormat::kTraceLabJsonl;
    if (has("\"input_length\"")) return SessionTraceFormat::kMooncakeJsonl;
    if (has("\"requests\"")) return SessionTraceFormat::kClaudeCodeJsonl;
    return std::nullopt;
  }
  std::vector<std::string_view> cells;
  if (!split_csv_line(first_line, cells)) return std::nullopt;
  const bool is_table = std::any_of(cells.begin(), cells.end(), [](std::string_view cell) {
    return cell == "trace_id" || cell == "in_tokens";
  });
  if (!is_table) return std::nullopt;
  return SessionTraceFormat::kClaudeCodeCsv;
}

Result<SessionTraceFormat> find_session_trace_format(const SessionTraceOptions& options,
                                                     const std::string& path) {
  const Result<Opening> opening = open_trace(options, path);
  if (!opening) return std::unexpected(opening.error());
  return opening->format;
}

Result<Programs> read_session_trace(const SessionTraceOptions& options, const std::string& path) {
  Result<Opening> opening = open_trace(options, path);
  if (!opening) return std::unexpected(opening.error());
  RecordedTrace trace(stable_hash("session_trace"));
  const Result<void> read =
      read_rows(opening->format, std::move(opening->first_line), opening->lines, trace);
  if (!read) return std::unexpected(read.error());
  const ProgramDuplicates alike = find_alike_sessions(trace, options.drop_duplicates);
  if (options.max_context_tokens) end_at_context(*options.max_context_tokens, trace);
  if (options.limit) take_first(*options.limit, trace);
  if (options.longest_gap) cut_gaps(*options.longest_gap, options.by_flags, trace);
  if (trace.sessions.empty()) {
    return fail(ErrorCode::kInvalidInput, "no sessions: expected at least one with a call", path);
  }
  Programs programs = build_programs(trace);
  programs.duplicates = alike;
  return programs;
}

}  // namespace inferscale
