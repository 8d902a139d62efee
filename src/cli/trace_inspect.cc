// `inferscale trace inspect`: what is in a trace, before it is replayed.

#include <fmt/format.h>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "report/text/text_table.h"
#include "workload/programs/session_options.h"
#include "workload/readers/trace_reader.h"
#include "workload/trace_summary.h"

namespace inferscale {
namespace {

JsonValue lengths_json(const LengthSummary& lengths) {
  return JsonValue::object()
      .add("mean", lengths.mean)
      .add("p10", lengths.p10)
      .add("p50", lengths.p50)
      .add("p90", lengths.p90)
      .add("p99", lengths.p99)
      .add("max", lengths.max)
      .add("total", lengths.total);
}

JsonValue trace_json(const Trace& trace, const TraceSummary& summary) {
  JsonValue json = JsonValue::object();
  json.add("file", trace.file_name);
  json.add("format", trace_format_name(trace.format));
  json.add("crc32", trace.crc32);
  json.add("rows_in_file", trace.rows_in_file);
  json.add("rows_failed", trace.rows_failed);
  json.add("rows", summary.rows);
  json.add("first_arrival_s", summary.first_arrival_s);
  json.add("span_s", summary.span_s);
  json.add("mean_rate_rps", summary.mean_rate_rps);
  json.add("gap_cv", summary.gap_cv);
  json.add("distinct_timestamps", summary.distinct_timestamps);
  json.add("prompt_tokens", lengths_json(summary.prompt_tokens));
  json.add("output_tokens", lengths_json(summary.output_tokens));
  if (summary.tenants) json.add("tenants", summary.tenants->names);
  if (summary.sessions) json.add("sessions", summary.sessions->names);
  if (summary.prefix) {
    json.add("prefix", JsonValue::object()
                           .add("block_tokens", trace.content.block_tokens)
                           .add("blocks", summary.prefix->blocks)
                           .add("blocks_hit_infinite_cache", summary.prefix->blocks_hit)
                           .add("hit_rate_infinite_cache", summary.prefix->hit_rate));
  }
  JsonValue warnings = JsonValue::array();
  for (const std::string& warning : summary.warnings) warnings.append(warning);
  json.add("warnings", std::move(warnings));
  return json;
}

void print_summary(const Trace& trace, const TraceSummary& s) {
  fmt::print("{}: {} rows, format {}, CRC-32 {:08x}\n", trace.file_name, trace.rows_in_file,
             trace_format_name(trace.format), trace.crc32);
  if (trace.rows_failed > 0) {
    fmt::print("  {} rows without output tokens are left out\n", trace.rows_failed);
  }
  fmt::print("  span {} s from the first arrival (at {} s) to the last\n", short_number(s.span_s),
             short_number(s.first_arrival_s));
  if (s.mean_rate_rps) {
    fmt::print("  {} requests/s on average, gaps with a coefficient of variation of {}\n",
               short_number(*s.mean_rate_rps), s.gap_cv ? short_number(*s.gap_cv) : "-");
  }
  if (s.tenants) fmt::print("  {} tenants\n", s.tenants->names);
  if (s.sessions) fmt::print("  {} sessions\n", s.sessions->names);
  if (s.prefix) {
    fmt::print("  {} blocks of {} tokens; a cache that never forgets would hit {:.1f} %\n",
               s.prefix->blocks, trace.content.block_tokens, 100.0 * s.prefix->hit_rate);
  }
  TextTable table({"tokens", ">mean", ">p10", ">p50", ">p90", ">p99", ">max", ">total"});
  const auto add = [&](const char* name, const LengthSummary& lengths) {
    table.add({name, fmt::format("{:.1f}", lengths.mean), std::to_string(lengths.p10),
               std::to_string(lengths.p50), std::to_string(lengths.p90),
               std::to_string(lengths.p99), std::to_string(lengths.max),
               std::to_string(lengths.total)});
  };
  add("prompt", s.prompt_tokens);
  add("output", s.output_tokens);
  fmt::print("\n{}", table.text());
  for (const std::string& warning : s.warnings) fmt::print("\nNote: {}\n", warning);
}

class TraceInspect final : public Command {
 public:
  std::string name() const override { return "trace inspect"; }
  std::string summary() const override { return "Summarise a trace: rate, burstiness, lengths"; }
  void declare(Arguments& arguments) override {
    arguments.positional("FILE", options_.file, true, "the trace, plain or gzip");
    arguments.option(
        "--format", format_,
        "inferscale, azure2023, mooncake, burstgpt, claude_code_csv or claude_code_jsonl; "
        "default: auto");
    arguments.flag("--sort", options_.sort, "put rows that are out of order in order of arrival");
    arguments.flag("--skip-failed", options_.skip_failed,
                   "leave out rows without output tokens, and count them");
    arguments.flag("--json", json_, "as JSON");
  }
  Result<int> run() override {
    options_.by_flags = true;
    if (!format_.empty() && format_ != "auto") {
      options_.format = trace_format_named(format_);
      if (!options_.format) {
        return fail(ErrorCode::kInvalidConfig,
                    "--format: '" + format_ +
                        "': expected auto, inferscale, azure2023, mooncake, burstgpt, "
                        "claude_code_csv or claude_code_jsonl" +
                        (session_trace_format_named(format_)
                             ? " (`inferscale trace sessions` reads " + format_ + ")"
                             : ""));
      }
    }
    const Result<Trace> trace = read_trace(options_, "", 0);
    if (!trace) return std::unexpected(trace.error());
    const TraceSummary summary = summarize_trace(*trace);
    if (json_) {
      fmt::print("{}", trace_json(*trace, summary).indented_text());
    } else {
      print_summary(*trace, summary);
    }
    return 0;
  }

 private:
  TraceOptions options_;
  std::string format_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_inspect_command() {
  return std::make_unique<TraceInspect>();
}

}  // namespace inferscale
