// TraceLab's rounds: a call a line, with its tokens in and outside of the provider's cache, its
// timing events and its tools.
//
// Rounds of one session are put in order of round_index. The gap behind a round goes from its last
// event of output to the next round's last event of input (a tool's result, the person's message);
// without such events it is the longest of its tools' wall latencies.
//
// prefix_tokens is what the provider's cache held, and falls when that has forgotten a session that
// waited. What the prompt has in common with the one before it is therefore at least that, and
// all of it where the prompt didn't get shorter. Where the cache held more than the prompt before,
// the answer was in it.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/sessions/json_tree.h"
#include "workload/readers/sessions/session_formats.h"

namespace inferscale {
namespace {

using Kind = JsonTree::Kind;

struct Round {
  std::int64_t index = 0;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t prefix_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::optional<std::int64_t> input_ns;   // its last event of input
  std::optional<std::int64_t> output_ns;  // its last event of output
  std::int64_t tools_ns = 0;              // the longest of its tools
  bool from_person = false;
};

constexpr const char* kTokens = "a whole number from 0 to 10000000";

class Rounds {
 public:
  explicit Rounds(const LineReader& lines) : lines_(lines) {}
  Result<void> take(const std::string& line);
  void finish(RecordedTrace& trace);

 private:
  std::string take_round(const JsonTree& line);
  void take_tokens(JsonFields& fields, Round& round);
  std::string take_events(const JsonTree& events, Round& round);
  std::string take_tools(const JsonTree& tools, Round& round);
  RecordedCall next_call(const Round& round, const Round& before, RecordedCall& last,
                         ContentTree& tree);
  void finish_session(const std::string& name, std::vector<Round>& rounds, RecordedTrace& trace);

  const LineReader& lines_;
  std::map<std::string, std::size_t> places_;  // of sessions, by name
  std::vector<std::pair<std::string, std::vector<Round>>> sessions_;
  std::uint64_t other_events_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint64_t without_times_ = 0;
};

std::optional<std::uint32_t> whole(JsonFields& fields, const char* key) {
  const JsonTree* value = fields.take(key, Kind::kNumber);
  if (value == nullptr) return std::nullopt;
  const auto tokens = token_count(value->text, 0);
  if (!tokens) fields.refuse(key, value->text, kTokens);
  return tokens;
}

void Rounds::take_tokens(JsonFields& fields, Round& round) {
  const auto total = whole(fields, "input_tokens_total");
  const auto prefix = whole(fields, "prefix_tokens");
  const auto appended = whole(fields, "newly_append_tokens");
  const auto output = whole(fields, "output_tokens");
  if (!total || !prefix || !appended || !output) return;
  if (*total == 0 || *prefix + *appended != *total) {
    fields.refuse("input_tokens_total", std::to_string(*total),
                  "at least 1, and prefix_tokens + newly_append_tokens = " +
                      std::to_string(*prefix + *appended));
  }
  round.prompt_tokens = *total;
  round.prefix_tokens = *prefix;
  round.output_tokens = *output;
}

std::string Rounds::take_events(const JsonTree& events, Round& round) {
  for (std::size_t i = 0; i < events.values.size(); ++i) {
    JsonFields fields(events.values[i], "timing_events[" + std::to_string(i) + "].");
    const JsonTree* type = fields.take("event_type", Kind::kText);
    const JsonTree* timestamp = fields.take("timestamp", Kind::kText);
    for (const char* key : {"source", "tool_call_id", "tool_name", "tool_index", "is_error",
                            "result_chars", "content_chars"}) {
      fields.skip(key);
    }
    std::optional<std::int64_t> at;
    if (timestamp != nullptr) {
      at = utc_nanoseconds(timestamp->text);
      if (!at) fields.refuse("timestamp", timestamp->text, "YYYY-MM-DDThh:mm:ss.fffZ");
    }
    if (std::string problem = fields.finish(); !problem.empty()) return problem;
    const std::string& name = type->text;
    if (name == "user_message" || name == "tool_result") {
      round.input_ns = std::max(*at, round.input_ns.value_or(*at));
      if (name == "user_message") round.from_person = true;
    } else if (name == "reasoning" || name == "text" || name == "tool_call" ||
               name == "usage_report") {
      round.output_ns = std::max(*at, round.output_ns.value_or(*at));
    } else {
      ++other_events_;
    }
  }
  return "";
}

std::string Rounds::take_tools(const JsonTree& tools, Round& round) {
  for (std::size_t i = 0; i < tools.values.size(); ++i) {
    JsonFields fields(tools.values[i], "tools[" + std::to_string(i) + "].");
    const JsonTree* latency = fields.take_optional("tool_wall_latency_ms", Kind::kNumber);
    for (const char* key :
         {"tool_index", "tool_name", "tool_call_id", "emitted_at", "result_at", "input",
          "input_chars", "result_chars", "tool_internal_latency_ms", "is_error"}) {
      fields.skip(key);
    }
    if (latency != nullptr) {
      const auto ns = scaled_decimal(latency->text, 6);
      if (ns && *ns >= 0 && *ns <= 1'000'000'000'000'000'000) {
        round.tools_ns = std::max(round.tools_ns, *ns);
      } else {
        fields.refuse("tool_wall_latency_ms", latency->text, "milliseconds from 0 to 1e12");
      }
    }
    if (std::string problem = fields.finish(); !problem.empty()) return problem;
  }
  return "";
}

std::string Rounds::take_round(const JsonTree& line) {
  JsonFields fields(line, "");
  Round round;
  const JsonTree* session = fields.take("session_id", Kind::kText);
  const JsonTree* file = fields.take_optional("session_file", Kind::kText);
  const JsonTree* index = fields.take("round_index", Kind::kNumber);
  take_tokens(fields, round);
  const JsonTree* events = fields.take("timing_events", Kind::kList);
  const JsonTree* tools = fields.take("tools", Kind::kList);
  for (const char* key : {"provider",
                          "project",
                          "round_id",
                          "turn_id",
                          "model",
                          "claude_uncached_input_tokens",
                          "claude_cache_creation_input_tokens",
                          "claude_cache_read_input_tokens",
                          "reasoning_output_tokens",
                          "current_input_event_count",
                          "current_user_message_count",
                          "current_tool_result_count",
                          "current_user_message_chars",
                          "current_tool_result_chars",
                          "current_input_chars",
                          "first_input_event_type",
                          "home",
                          "user",
                          "store",
                          "trace_key"}) {
    fields.skip(key);
  }
  if (session != nullptr && (session->text.empty() || !is_name(session->text))) {
    fields.refuse("session_id", session->text, "1 to 256 bytes of UTF-8 text");
  }
  if (index != nullptr) {
    const auto place = token_count(index->text, 0);
    if (!place) fields.refuse("round_index", index->text, kTokens);
    round.index = place.value_or(0);
  }
  if (std::string problem = fields.finish(); !problem.empty()) return problem;
  if (std::string problem = take_events(*events, round); !problem.empty()) return problem;
  if (std::string problem = take_tools(*tools, round); !problem.empty()) return problem;
  // Ids are unique within a file of the recording only.
  std::string place = session->text;
  if (file != nullptr) place += "\n" + file->text;
  const auto [found, is_new] = places_.try_emplace(std::move(place), sessions_.size());
  if (is_new) sessions_.push_back({session->text, {}});
  sessions_[found->second].second.push_back(round);
  return "";
}

Result<void> Rounds::take(const std::string& text) {
  JsonTree line;
  std::string problem = line.parse(text);
  if (problem.empty()) problem = take_round(line);
  if (problem.empty()) return {};
  return fail(ErrorCode::kInvalidInput, problem, place_of(lines_));
}

// How much of its prompt is the one's before it, and its answer.
std::uint32_t history_of(const Round& round, const Round& before) {
  const std::uint32_t answered = before.prompt_tokens + before.output_tokens;
  if (round.prefix_tokens > before.prompt_tokens && round.prompt_tokens >= answered) {
    return answered;
  }
  if (round.prompt_tokens >= before.prompt_tokens) return before.prompt_tokens;
  return std::min(round.prefix_tokens, round.prompt_tokens);
}

// Joins a round to the call before it.
RecordedCall Rounds::next_call(const Round& round, const Round& before, RecordedCall& last,
                               ContentTree& tree) {
  RecordedCall call = {.prompt_tokens = round.prompt_tokens,
                       .output_tokens = round.output_tokens,
                       .history_tokens = history_of(round, before)};
  ContentTree::Node from = last.content;
  if (call.history_tokens > last.prompt_tokens) {
    from = tree.extend(from, call.history_tokens);
    last.answered_content = from;
  }
  call.content = tree.extend(tree.at(from, call.history_tokens), call.prompt_tokens);
  last.waits_for_person = round.from_person;
  if (before.output_ns && round.input_ns) {
    last.gap = Duration::nanos(std::max<std::int64_t>(0, *round.input_ns - *before.output_ns));
  } else {
    last.gap = Duration::nanos(before.tools_ns);
    ++without_times_;
  }
  return call;
}

void Rounds::finish_session(const std::string& name, std::vector<Round>& rounds,
                            RecordedTrace& trace) {
  std::stable_sort(rounds.begin(), rounds.end(),
                   [](const Round& a, const Round& b) { return a.index < b.index; });
  std::vector<RecordedCall> calls;
  const Round* before = nullptr;
  std::optional<std::int64_t> latest;
  for (const Round& round : rounds) {
    if (latest == round.index) {
      ++repeated_;
      continue;
    }
    latest = round.index;
    if (round.output_tokens == 0) {
      ++failed_;
      continue;
    }
    if (before == nullptr) {
      const ContentTree::Node content =
          trace.tree.extend(trace.tree.add_root(), round.prompt_tokens);
      calls.push_back({.prompt_tokens = round.prompt_tokens,
                       .output_tokens = round.output_tokens,
                       .content = content});
    } else {
      calls.push_back(next_call(round, *before, calls.back(), trace.tree));
    }
    before = &round;
  }
  if (calls.empty()) return;
  trace.sessions.push_back({.name = name, .chains = {RecordedChain{.calls = std::move(calls)}}});
}

void Rounds::finish(RecordedTrace& trace) {
  for (auto& [name, rounds] : sessions_) finish_session(name, rounds, trace);
  trace.notes.push_back(
      "when the file's sessions began is not replayed; a prompt that didn't get shorter begins "
      "with "
      "the whole one before it, whatever the provider's cache still had of it");
  const auto note = [&](std::uint64_t n, const std::string& sentence) {
    if (n > 0) trace.notes.push_back(sentence);
  };
  note(failed_, counted(failed_, "round", "rounds") + " without output left out");
  note(repeated_, counted(repeated_, "round repeats", "rounds repeat") +
                      " the round_index of one above in the same session: left out");
  note(without_times_, counted(without_times_, "gap", "gaps") +
                           " without events on both sides: the longest wall latency of the tools");
  note(other_events_, counted(other_events_, "timing event", "timing events") +
                          " of other types than user_message, tool_result, reasoning, text, "
                          "tool_call and usage_report passed over");
}

}  // namespace

Result<void> read_tracelab_jsonl(std::string first_line, LineReader& lines, RecordedTrace& trace) {
  Rounds rounds(lines);
  std::string line = std::move(first_line);
  for (;;) {
    if (const Result<void> taken = rounds.take(line); !taken) return taken;
    const Result<bool> more = next_filled_line(lines, line);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  rounds.finish(trace);
  return {};
}

}  // namespace inferscale
