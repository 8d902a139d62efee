#include "workload/programs/session_options.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "workload/generated_source.h"
#include "workload/length_options.h"
#include "workload/programs/session_presets.h"

namespace inferscale {
namespace {

constexpr std::int64_t kMostSessions = 1'000'000;
constexpr std::uint32_t kMostSpawned = 1000;  // chains of one call
constexpr double kMostCalls = 1e8;            // expected, of all sessions
constexpr std::string_view kNoPreset = "none";

constexpr std::pair<SessionTraceFormat, std::string_view> kFormats[] = {
    {SessionTraceFormat::kClaudeCodeCsv, "claude_code_csv"},
    {SessionTraceFormat::kClaudeCodeJsonl, "claude_code_jsonl"},
    {SessionTraceFormat::kSessionCallsJsonl, "session_calls_jsonl"},
    {SessionTraceFormat::kTraceLabJsonl, "tracelab_jsonl"},
    {SessionTraceFormat::kMooncakeJsonl, "mooncake_jsonl"},
};

// The mean length, or somewhat more.
double mean_at_most(const LengthOptions& options) {
  double mean = 0;
  if (const auto* constant = std::get_if<ConstantLength>(&options.shape)) {
    mean = constant->tokens;
  } else if (const auto* lognormal = std::get_if<LognormalLength>(&options.shape)) {
    mean = lognormal->mean + 1;
  } else {
    const auto& values = std::get_if<EmpiricalLength>(&options.shape)->values;
    if (!values.empty()) mean = *std::max_element(values.begin(), values.end());
  }
  return std::min<double>(mean + options.min, options.max);
}

double expected_calls(const GeneratedSessions& sessions) {
  double calls = mean_at_most(sessions.turns);
  if (sessions.spawns) {
    const SpawnOptions& spawns = *sessions.spawns;
    calls *= 1 + spawns.probability * mean_at_most(spawns.calls) * mean_at_most(spawns.turns);
  }
  return calls * static_cast<double>(sessions.count);
}

SessionTraceOptions read_trace(ConfigReader trace) {
  SessionTraceOptions options;
  options.file = trace.text("file", std::nullopt,
                            "plain or gzip; relative to the configuration file's folder");
  const std::string format =
      trace.choice("format",
                   {"auto", "claude_code_csv", "claude_code_jsonl", "session_calls_jsonl",
                    "tracelab_jsonl", "mooncake_jsonl"},
                   "auto", "auto: found by the first line");
  options.format = session_trace_format_named(format);
  options.drop_duplicates =
      trace.boolean("drop_duplicates", true,
                    "leave out, and count, sessions with exactly the calls of an earlier one");
  const auto limit = trace.optional_integer("limit", {.min = 1,
                                                      .max = kMostSessions,
                                                      .unit = "sessions",
                                                      .doc = "use the first so many; null: all"});
  if (limit) options.limit = static_cast<std::uint64_t>(*limit);
  const auto context = trace.optional_integer(
      "max_context_tokens",
      {.min = 2,
       .max = 1'000'000'000,
       .unit = "tokens",
       .doc = "derived workload: a session ends before a call whose prompt and answer would be "
              "longer, for models with a shorter context than the recorded one; null: no limit"});
  if (context) options.max_context_tokens = static_cast<std::uint32_t>(*context);
  const auto longest = trace.optional_number(
      "longest_gap_s", {.min = 0,
                        .max = static_cast<double>(DelayOptions::kLongest) / 1e9,
                        .unit = "s",
                        .doc = "derived workload: longer gaps, and longer waits before and behind "
                               "sub-agents, are cut to this; null: none is"});
  if (longest) options.longest_gap = Duration::from_seconds(*longest);
  trace.finish();
  return options;
}

std::optional<SpawnOptions> read_spawns(ConfigReader& sessions) {
  std::optional<ConfigReader> spawns = sessions.optional_map(
      "spawns", "sub-agents and fan-out: chains that a turn launches, all joined before the next");
  if (!spawns) return std::nullopt;
  SpawnOptions options;
  options.probability = spawns->number(
      "probability", {.min = 0,
                      .max = 1,
                      .unit = "fraction",
                      .doc = "how probable it is that a turn that calls tools launches some"});
  options.calls = read_length_options(spawns->map("calls", "chains that such a turn launches"),
                                      {.unit = "chains", .most = kMostSpawned});
  options.turns =
      read_length_options(spawns->map("turns", "turns of each of them; 1: a plain fan-out"),
                          {.unit = "turns", .most = kMostTurns});
  options.first_prompt_tokens = read_length_options(
      spawns->map("first_prompt_tokens", "of each of them, beside what it shares"));
  options.fork = spawns->boolean("fork", false,
                                 "true: each begins with all that the launching agent had; false: "
                                 "with the system prompt alone");
  spawns->finish();
  return options;
}

void read_lengths(ConfigReader& sessions, GeneratedSessions& options) {
  options.turns = read_length_options(sessions.map("turns", "calls of the main agent"),
                                      {.unit = "turns", .most = kMostTurns});
  options.first_prompt_tokens = read_length_options(
      sessions.map("first_prompt_tokens", "of the first turn, beside the system prompt"));
  options.appended_tokens = read_length_options(sessions.map(
      "appended_tokens", "what each later turn adds to all before it: tool results, words"));
  options.output_tokens =
      read_length_options(sessions.map("output_tokens", "lengths of the answers"));
  options.system_prompt_tokens = static_cast<std::uint32_t>(sessions.integer(
      "system_prompt_tokens", {.fallback = 0,
                               .min = 0,
                               .max = kMostTokens,
                               .unit = "tokens",
                               .doc = "the one prompt that all sessions begin with; 0: none"}));
  options.max_context_tokens = static_cast<std::uint32_t>(sessions.integer(
      "max_context_tokens", {.fallback = 200'000,
                             .min = kSmallestContext,
                             .max = kMostTokens,
                             .unit = "tokens",
                             .doc = "a session ends before a turn whose prompt and answer would be "
                                    "longer"}));
  if (options.system_prompt_tokens + TokenCount{2} > options.max_context_tokens) {
    sessions.fail("system_prompt_tokens",
                  "expected at least 2 tokens less than max_context_tokens (" +
                      std::to_string(options.max_context_tokens) + ")");
  }
}

void read_gaps(ConfigReader& sessions, GeneratedSessions& options) {
  options.tool_gap =
      read_delay_options(sessions.map("tool_gap", "from an answer to the next turn, of tools"));
  options.person_share = sessions.number(
      "person_share", {.fallback = 0,
                       .min = 0,
                       .max = 1,
                       .unit = "fraction",
                       .doc = "of the gaps between turns, those that wait for a person"});
  std::optional<ConfigReader> person = sessions.optional_map(
      "person_gap", "from an answer to the next turn, of people; needed with person_share");
  if (person) {
    options.person_gap = read_delay_options(*person);
  } else if (options.person_share > 0) {
    sessions.fail("person_gap", "expected how long people take, as person_share is above 0");
  }
}

// Where it names a preset, a reader that has the preset's values for what is not written.
ConfigReader with_preset(const ConfigReader& sessions, const std::string& preset) {
  if (preset.empty() || sessions.is_describing()) return sessions;
  return sessions.with_defaults(session_preset(preset),
                                {{.key = "turns", .chooser = "distribution"},
                                 {.key = "first_prompt_tokens", .chooser = "distribution"},
                                 {.key = "appended_tokens", .chooser = "distribution"},
                                 {.key = "output_tokens", .chooser = "distribution"},
                                 {.key = "tool_gap", .chooser = "distribution"},
                                 {.key = "person_gap", .chooser = "distribution"},
                                 {.key = "system_prompt_tokens"},
                                 {.key = "person_share"}});
}

GeneratedSessions read_generated(ConfigReader& sessions) {
  GeneratedSessions options;
  options.count = static_cast<std::uint64_t>(
      sessions.integer("count", {.fallback = 100,
                                 .min = 1,
                                 .max = kMostSessions,
                                 .unit = "sessions",
                                 .doc = "how many begin, by workload.arrivals"}));
  read_lengths(sessions, options);
  read_gaps(sessions, options);
  options.spawns = read_spawns(sessions);
  if (!sessions.is_describing() && expected_calls(options) > kMostCalls) {
    sessions.fail("count", "expected at most 100 million calls in all");
  }
  return options;
}

void refuse_beside_trace(ConfigReader& sessions, const SessionOptions& options) {
  constexpr std::string_view kWhy = "expected no such key beside trace, whose sessions say it";
  if (!options.preset.empty()) sessions.fail("preset", kWhy);
  for (std::string_view key : {"person_gap", "spawns"}) {
    if (sessions.optional_map(key, "")) sessions.fail(key, kWhy);
  }
  if (sessions.has("count")) {
    sessions.fail("count", "expected no such key beside trace (trace.limit takes fewer of its)");
  }
  for (std::string_view key :
       {"turns", "first_prompt_tokens", "appended_tokens", "output_tokens", "system_prompt_tokens",
        "max_context_tokens", "tool_gap", "person_share"}) {
    if (sessions.has(key)) sessions.fail(key, kWhy);
  }
}

CallRetries read_retries(ConfigReader retries) {
  CallRetries options;
  options.most = retries.integer(
      "most", {.fallback = 0,
               .min = 0,
               .max = 1'000'000,
               .unit = "attempts",
               .doc = "further attempts of a call that a full queue refused or a failing replica "
                      "lost; a call out of attempts ends its session"});
  options.delay = Duration::from_seconds(
      retries.number("delay_s", {.fallback = 1,
                                 .min = 0,
                                 .max = 1e6,
                                 .unit = "s",
                                 .doc = "from the end of one attempt to the next"}));
  retries.finish();
  return options;
}

}  // namespace

std::string_view session_trace_format_name(SessionTraceFormat format) {
  for (const auto& [known, name] : kFormats) {
    if (known == format) return name;
  }
  return "unknown";
}

std::optional<SessionTraceFormat> session_trace_format_named(std::string_view name) {
  for (const auto& [format, known] : kFormats) {
    if (known == name) return format;
  }
  return std::nullopt;
}

SessionOptions read_session_options(ConfigReader sessions) {
  SessionOptions options;
  std::optional<ConfigReader> trace = sessions.optional_map(
      "trace", "replay these sessions instead of generated ones; when they begin is still drawn");
  if (trace) options.trace = read_trace(*trace);
  const std::string preset = sessions.choice(
      "preset", {kNoPreset, "coding_agent", "coding_agent_tracelab", "short_tasks"}, kNoPreset,
      "distributions of real agents, for the keys that are not written: docs/sessions.md; none: "
      "all must be written");
  if (preset != kNoPreset) options.preset = preset;
  options.retries = read_retries(sessions.map("retries", "what a refused call does"));
  const auto makespan = sessions.optional_number(
      "makespan_s", {.min = 0,
                     .max = 1e9,
                     .above_min = true,
                     .unit = "s",
                     .doc = "the budget of a session, from its beginning to its last answer; null: "
                            "none"});
  if (makespan) options.makespan = Duration::from_seconds(*makespan);
  if (trace && !sessions.is_describing()) {
    refuse_beside_trace(sessions, options);
    sessions.finish();
    return options;
  }
  ConfigReader filled = with_preset(sessions, options.preset);
  options.generated = read_generated(filled);
  filled.finish();
  return options;
}

}  // namespace inferscale
