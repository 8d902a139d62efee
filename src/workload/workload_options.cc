#include "workload/workload_options.h"

#include <cstdint>
#include <string>
#include <utility>

#include "workload/arrival_options.h"
#include "workload/content_options.h"
#include "workload/length_options.h"

namespace inferscale {
namespace {

GeneratedOptions read_generated(ConfigReader& workload) {
  GeneratedOptions options;
  options.requests = static_cast<std::uint64_t>(
      workload.integer("requests", {.fallback = 10'000,
                                    .min = 1,
                                    .max = static_cast<std::int64_t>(kMostRequests),
                                    .unit = "requests",
                                    .doc = "how many arrive"}));
  options.arrivals = read_arrival_options(
      workload.map("arrivals", "when requests arrive, or conversations or sessions begin"),
      "requests/s");
  options.prompt_tokens =
      read_length_options(workload.map("prompt_tokens", "lengths of the prompts"));
  options.output_tokens =
      read_length_options(workload.map("output_tokens", "lengths of the answers"));
  options.prefixes = read_prefixes(workload);
  options.conversations = read_conversations(workload);
  return options;
}

// `what` happens so many times, by the arrival process.
void check_span(ConfigReader& workload, std::string_view key, std::string_view what,
                const ArrivalOptions& arrivals, std::uint64_t count) {
  const auto* piecewise = std::get_if<PiecewiseArrivals>(&arrivals);
  if (workload.is_describing() || (piecewise != nullptr && piecewise->schedule.empty())) return;
  if (arrive_in_time(arrivals, count)) return;
  workload.fail(key, "expected so many that they " + std::string(what) +
                         " within 1e9 s (31 years) at the rate of workload.arrivals");
}

TraceOptions read_trace_options(ConfigReader trace) {
  TraceOptions options;
  options.file = trace.text("file", std::nullopt,
                            "plain or gzip; relative to the configuration file's folder");
  const std::string format = trace.choice("format",
                                          {"auto", "inferscale", "azure2023", "mooncake",
                                           "burstgpt", "claude_code_csv", "claude_code_jsonl"},
                                          "auto", "auto: found by the first line");
  options.format = trace_format_named(format);
  options.sort = trace.boolean("sort", false,
                               "put rows in order of arrival; without it a row out of order is an "
                               "error");
  options.skip_failed = trace.boolean("skip_failed", false,
                                      "leave out and count rows with 0 output tokens (failed "
                                      "calls); without it such a row is an error");
  const auto limit =
      trace.optional_integer("limit", {.min = 1,
                                       .max = static_cast<std::int64_t>(kMostRequests),
                                       .unit = "requests",
                                       .doc = "use the first so many rows; null: all"});
  if (limit) options.limit = static_cast<std::uint64_t>(*limit);
  options.jitter = Duration::from_millis(trace.number(
      "jitter_ms", {.fallback = 0,
                    .min = 0,
                    .max = 3.6e6,
                    .unit = "ms",
                    .doc = "derived workload: move each arrival later by up to this, at random, "
                           "where the trace's clock was coarse"}));
  options.rate_scale = trace.number(
      "rate_scale",
      {.fallback = 1,
       .min = 1e-6,
       .max = 1e6,
       .unit = "factor",
       .doc = "derived workload: so many times the load. Divides the arrival times of requests; of "
              "sessions only their beginnings, the gaps inside a session stay"});
  std::optional<ConfigReader> sessions = trace.optional_map(
      "session_arrivals",
      "when sessions begin, in formats whose times count from there (claude_code_*); null: all at "
      "0");
  if (sessions) options.session_arrivals = read_arrival_options(*sessions, "sessions/s");
  trace.finish();
  return options;
}

// Agent programs: the arrival process, and nothing else of the map.
void read_beside_sessions(ConfigReader& workload, WorkloadOptions& options) {
  options.generated.arrivals =
      read_arrival_options(workload.map("arrivals", "when sessions begin"), "sessions/s");
  constexpr std::string_view kWhy = "expected no such key beside sessions";
  for (std::string_view key : {"trace", "conversations", "prefixes", "shared_prefix"}) {
    if (workload.optional_map(key, "")) workload.fail(key, kWhy);
  }
  for (std::string_view key : {"requests", "prompt_tokens", "output_tokens"}) {
    if (workload.has(key)) workload.fail(key, kWhy);
  }
  if (!options.sessions->trace) {
    check_span(workload, "sessions", "begin", options.generated.arrivals,
               options.sessions->generated.count);
  }
  workload.finish();
}

void read_sessions(ConfigReader& workload, WorkloadOptions& options) {
  std::optional<ConfigReader> sessions = workload.optional_map(
      "sessions", "agent programs, which begin by arrivals; then only these two keys count here");
  if (sessions) options.sessions = read_session_options(*sessions);
}

}  // namespace

WorkloadOptions read_workload_options(ConfigReader& workload) {
  WorkloadOptions options;
  if (!workload.is_describing()) read_sessions(workload, options);
  if (options.sessions) {
    read_beside_sessions(workload, options);
    return options;
  }
  std::optional<ConfigReader> trace = workload.optional_map(
      "trace", "replay these rows instead of requests, arrivals, prompt_tokens, output_tokens");
  if (trace) options.trace = read_trace_options(*trace);
  if (!trace || workload.is_describing()) {
    options.generated = read_generated(workload);
    check_span(workload, "requests", "arrive", options.generated.arrivals,
               options.generated.requests);
  } else {
    for (std::string_view key : {"prefixes", "conversations"}) {
      if (workload.optional_map(key, "")) {
        workload.fail(key, "expected no such key beside trace, whose rows say what prompts share");
      }
    }
    for (std::string_view key : {"requests", "arrivals", "prompt_tokens", "output_tokens"}) {
      if (workload.has(key)) {
        workload.fail(key,
                      "expected no such key beside trace, whose rows say it (trace.limit "
                      "takes fewer of them)");
      }
    }
  }
  options.shared_prefix = read_shared_prefix(workload);
  if (options.shared_prefix && (options.generated.prefixes || options.generated.conversations) &&
      !workload.is_describing()) {
    workload.fail("shared_prefix",
                  "expected no such key beside prefixes or conversations, whose prompts begin in "
                  "their own ways");
  }
  // Last in a description, but first to be read: they decide which keys there are.
  if (workload.is_describing()) read_sessions(workload, options);
  workload.finish();
  return options;
}

}  // namespace inferscale
