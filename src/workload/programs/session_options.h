// The `workload.sessions` part of a configuration: agent programs, generated or of a trace.
//
// Keys, units, limits and defaults are in session_options.cc, once; docs/sessions.md explains them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/config_reader.h"
#include "workload/delays.h"
#include "workload/lengths.h"
#include "workload/programs/program_source.h"

namespace inferscale {

enum class SessionTraceFormat : std::uint8_t {
  kClaudeCodeCsv,      // the request table: a row for each call
  kClaudeCodeJsonl,    // a session a line, with hashes of blocks
  kSessionCallsJsonl,  // a session a line: calls with tool_duration_ns (as LLMServingSim's)
  kTraceLabJsonl,      // a round a line: prefix tokens, appended tokens, tools
  kMooncakeJsonl,      // calls with hashes of blocks; sessions are put together from them
};

// "claude_code_csv", "claude_code_jsonl", "session_calls_jsonl", "tracelab_jsonl",
// "mooncake_jsonl".
std::string_view session_trace_format_name(SessionTraceFormat format);
std::optional<SessionTraceFormat> session_trace_format_named(std::string_view name);

struct SessionTraceOptions {
  std::string file;                          // relative to the configuration's folder
  std::optional<SessionTraceFormat> format;  // nothing: found by the first line
  bool drop_duplicates = true;
  std::optional<std::uint64_t> limit;  // the first so many sessions
  // A chain ends before a call whose prompt and answer are longer: a derived workload.
  std::optional<std::uint32_t> max_context_tokens;
  // Gaps longer than this are cut to it: a derived workload, said in the notes.
  std::optional<Duration> longest_gap;
  // The options are a command's flags: notes name these instead of keys.
  bool by_flags = false;
};

// Sub-agents and fan-out of generated sessions.
struct SpawnOptions {
  double probability = 0;             // of a turn that calls tools
  LengthOptions calls;                // chains that it spawns
  LengthOptions turns;                // of each of them; 1: a plain fan-out
  LengthOptions first_prompt_tokens;  // of a chain, beside what it shares with its session
  bool fork = false;  // it begins with all that the spawning chain had; else with nothing of it
};

struct GeneratedSessions {
  std::uint64_t count = 100;
  LengthOptions turns;
  LengthOptions first_prompt_tokens;  // beside the system prompt
  LengthOptions appended_tokens;      // of each later turn: tool results, the person's words
  LengthOptions output_tokens;
  // The one prompt that all sessions begin with; 0: none.
  std::uint32_t system_prompt_tokens = 0;
  DelayOptions tool_gap;
  DelayOptions person_gap;
  double person_share = 0;  // of the gaps between turns
  std::optional<SpawnOptions> spawns;
  std::uint32_t max_context_tokens = 200'000;
};

struct SessionOptions {
  GeneratedSessions generated;  // counts when there is no trace
  std::optional<SessionTraceOptions> trace;
  std::string preset;  // the preset's name; empty: none
  CallRetries retries;
  std::optional<Duration> makespan;  // the budget of a session
};

// Reads and finishes the map `workload.sessions`.
SessionOptions read_session_options(ConfigReader sessions);

}  // namespace inferscale
