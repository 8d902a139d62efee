// `inferscale trace sessions`: what recorded agent sessions hold, before they are simulated.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "cli/commands.h"
#include "report/text/text_table.h"
#include "workload/delays.h"
#include "workload/programs/program_summary.h"
#include "workload/readers/session_trace_reader.h"

namespace inferscale {
namespace {

constexpr const char* kFormats =
    "claude_code_csv, claude_code_jsonl, session_calls_jsonl, tracelab_jsonl or mooncake_jsonl";
constexpr double kSecondsPerNano = 1e-9;
constexpr double kMostSeconds = static_cast<double>(DelayOptions::kLongest) / 1e9;

struct Inspected {
  std::string file;
  SessionTraceFormat format = SessionTraceFormat::kClaudeCodeCsv;
  Programs programs;
  ProgramSummary summary;
};

// A row of the table, and a key of the JSON text. Values are tokens and calls as they are, or
// nanoseconds that are shown in seconds.
struct Row {
  const char* name;
  const char* key;
  const ValueSummary& values;
  bool is_time = false;
};

std::vector<Row> rows_of(const ProgramSummary& s) {
  return {{"turns a session", "session_turns", s.session_turns},
          {"prompt tokens", "prompt_tokens", s.prompt_tokens},
          {"first prompt tokens", "first_prompt_tokens", s.first_prompt_tokens},
          {"sub-agent's first prompt", "sub_agent_first_prompt_tokens", s.sub_agent_prompt_tokens},
          {"new tokens a later turn", "new_tokens", s.new_tokens},
          {"output tokens", "output_tokens", s.output_tokens},
          {"context at the end", "end_context_tokens", s.end_context_tokens},
          {"tool gap, s", "tool_gap_s", s.tool_gap_ns, true},
          {"person gap, s", "person_gap_s", s.person_gap_ns, true},
          {"session without answers, s", "session_without_answers_s", s.session_gaps_ns, true}};
}

JsonValue values_json(const Row& row) {
  const ValueSummary& values = row.values;
  JsonValue json = JsonValue::object();
  json.add("count", values.count);
  if (values.count == 0) return json;
  const double unit = row.is_time ? kSecondsPerNano : 1;
  json.add("mean", values.mean * unit);
  const auto add = [&](const char* name, std::int64_t value) {
    if (row.is_time) {
      json.add(name, Duration::nanos(value).seconds());
    } else {
      json.add(name, value);
    }
  };
  add("p10", values.p10);
  add("p50", values.p50);
  add("p90", values.p90);
  add("p99", values.p99);
  add("max", values.max);
  return json;
}

JsonValue json_of(const Inspected& trace) {
  const ProgramSummary& s = trace.summary;
  const ProgramDuplicates& alike = trace.programs.duplicates;
  JsonValue json = JsonValue::object();
  json.add("file", trace.file);
  json.add("format", session_trace_format_name(trace.format));
  json.add("sessions", s.sessions);
  json.add("chains", s.chains);
  json.add("sub_agents", s.sub_agents);
  json.add("calls", s.calls);
  json.add("duplicates", alike.duplicates);
  json.add("duplicates_dropped", alike.dropped);
  json.add("forks", alike.forks);
  json.add("fork_groups", alike.fork_groups);
  for (const Row& row : rows_of(s)) json.add(row.key, values_json(row));
  json.add("history_share", s.history_share);
  json.add("max_model_len_needed", s.longest_call);
  JsonValue beyond = JsonValue::array();
  for (const BeyondContext& context : s.beyond) {
    beyond.append(JsonValue::object()
                      .add("max_model_len", context.tokens)
                      .add("sessions_beyond", context.sessions)
                      .add("calls_beyond", context.calls));
  }
  json.add("beyond_context", std::move(beyond));
  JsonValue notes = JsonValue::array();
  for (const std::string& note : trace.programs.notes) notes.append(note);
  json.add("notes", std::move(notes));
  return json;
}

std::string quantiles_text(const ProgramSummary& summary) {
  TextTable table({"", ">count", ">mean", ">p10", ">p50", ">p90", ">p99", ">max"});
  for (const Row& row : rows_of(summary)) {
    const ValueSummary& values = row.values;
    if (values.count == 0) continue;
    const double unit = row.is_time ? kSecondsPerNano : 1;
    const auto cell = [&](std::int64_t value) {
      return row.is_time ? short_number(static_cast<double>(value) * unit) : std::to_string(value);
    };
    table.add({row.name, std::to_string(values.count), short_number(values.mean * unit),
               cell(values.p10), cell(values.p50), cell(values.p90), cell(values.p99),
               cell(values.max)});
  }
  return table.text();
}

std::string beyond_text(const ProgramSummary& summary) {
  TextTable table({">max_model_len", ">sessions with a longer call", ">longer calls"});
  for (const BeyondContext& beyond : summary.beyond) {
    const double share =
        100.0 * static_cast<double>(beyond.sessions) / static_cast<double>(summary.sessions);
    table.add({std::to_string(beyond.tokens), fmt::format("{} ({:.1f} %)", beyond.sessions, share),
               std::to_string(beyond.calls)});
  }
  return table.text();
}

std::string counted_text(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

void print_text(const Inspected& trace) {
  const ProgramSummary& s = trace.summary;
  const ProgramDuplicates& alike = trace.programs.duplicates;
  fmt::print("{}: {}, format {}\n", trace.file, counted_text(s.sessions, "session", "sessions"),
             session_trace_format_name(trace.format));
  fmt::print("  {} in {}, {} of them {}\n", counted_text(s.calls, "call", "calls"),
             counted_text(s.chains, "chain", "chains"), s.sub_agents,
             s.sub_agents == 1 ? "a sub-agent's" : "sub-agents'");
  fmt::print("  {} left out; {} in {}\n", counted_text(alike.dropped, "duplicate", "duplicates"),
             counted_text(alike.forks, "fork", "forks"),
             counted_text(alike.fork_groups, "group", "groups"));
  fmt::print("  {:.1f} % of all prompt tokens were in the call before of the same chain\n",
             100 * s.history_share);
  fmt::print(
      "  the largest prompt has {} tokens; the longest call, {} with its answer, needs "
      "max_model_len: {}\n",
      s.prompt_tokens.max, s.longest_call, s.longest_call);
  fmt::print("\n{}\n{}", quantiles_text(s), beyond_text(s));
  for (const std::string& note : trace.programs.notes) fmt::print("\nNote: {}\n", note);
}

class TraceSessions final : public Command {
 public:
  std::string name() const override { return "trace sessions"; }
  std::string summary() const override {
    return "Summarise recorded agent sessions: turns, contexts, gaps";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("FILE", options_.file, true, "the sessions, plain or gzip");
    arguments.option("--format", format_, std::string(kFormats) + "; default: auto");
    arguments.option("--longest-gap", longest_gap_,
                     "cut longer gaps to so many seconds, as longest_gap_s would");
    arguments.flag("--json", json_, "as JSON");
  }
  Result<int> run() override {
    if (const Result<void> taken = take_flags(); !taken) return std::unexpected(taken.error());
    const Result<SessionTraceFormat> format = find_session_trace_format(options_, options_.file);
    if (!format) return std::unexpected(format.error());
    Result<Programs> programs = read_session_trace(options_, options_.file);
    if (!programs) return std::unexpected(programs.error());
    const ProgramSummary summary = summarize_programs(*programs);
    const Inspected trace = {.file = options_.file.substr(options_.file.find_last_of('/') + 1),
                             .format = *format,
                             .programs = *std::move(programs),
                             .summary = summary};
    if (json_) {
      fmt::print("{}", json_of(trace).indented_text());
    } else {
      print_text(trace);
    }
    return 0;
  }

 private:
  Result<void> take_flags() {
    options_.by_flags = true;
    if (!format_.empty() && format_ != "auto") {
      options_.format = session_trace_format_named(format_);
      if (!options_.format) {
        return fail(ErrorCode::kInvalidConfig,
                    "--format: '" + format_ + "': expected auto, " + kFormats);
      }
    }
    if (longest_gap_.empty()) return {};
    const std::optional<double> seconds = parse_finite(longest_gap_);
    if (!seconds || *seconds < 0 || *seconds > kMostSeconds) {
      return fail(ErrorCode::kInvalidConfig, "--longest-gap: '" + longest_gap_ +
                                                 "': expected seconds from 0 to " +
                                                 number_text(kMostSeconds));
    }
    options_.longest_gap = Duration::from_seconds(*seconds);
    return {};
  }

  SessionTraceOptions options_;
  std::string format_;
  std::string longest_gap_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_sessions_command() {
  return std::make_unique<TraceSessions>();
}

}  // namespace inferscale
