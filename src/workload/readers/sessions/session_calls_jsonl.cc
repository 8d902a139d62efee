// Sessions a line, as LLMServingSim's agentic workloads have them: calls with the lengths of prompt
// and answer, how long the tools ran behind each, and perhaps the tokens themselves.
//
// With tokens, what a prompt has in common with the call before it, and a session's first prompt
// with those of the sessions above, is what their tokens say. Without them a prompt that is at
// least as long as prompt and answer before it begins with both; one that is at least as long as
// the prompt, with that; a shorter one begins anew.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
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
using Tokens = std::vector<std::uint64_t>;

struct CallTokens {
  Tokens prompt;  // empty: not known
  Tokens answer;
};

std::uint32_t common_tokens(const Tokens& a, const Tokens& b) {
  const auto parting = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::uint32_t>(parting.first - a.begin());
}

class SessionLines {
 public:
  SessionLines(LineReader& lines, RecordedTrace& trace) : lines_(lines), trace_(trace) {}
  Result<void> take(const std::string& line);
  void finish();

 private:
  std::string take_session(const JsonTree& line);
  std::string take_calls(const JsonTree& list, std::vector<RecordedCall>& chain);
  std::string take_call(const JsonTree& object, const std::string& path, RecordedCall& call,
                        CallTokens& tokens);
  std::uint32_t take_tokens(JsonFields& fields, const char* count_key, const char* ids_key,
                            Tokens& ids);
  void place_first(RecordedCall& call, const Tokens& prompt);
  // Joins `call` to `before`, and says of that one whether its answer goes on.
  void place_next(RecordedCall& before, const CallTokens& known, RecordedCall& call,
                  const Tokens& prompt);

  LineReader& lines_;
  RecordedTrace& trace_;
  std::map<Tokens, ContentTree::Node> first_prompts_;
  std::set<std::string> ids_;
  std::uint64_t begun_anew_ = 0;
};

std::uint32_t SessionLines::take_tokens(JsonFields& fields, const char* count_key,
                                        const char* ids_key, Tokens& ids) {
  const JsonTree* count = fields.take(count_key, Kind::kNumber);
  const JsonTree* list = fields.take_optional(ids_key, Kind::kList);
  if (count == nullptr) return 0;
  const auto tokens = token_count(count->text, 1);
  if (!tokens) fields.refuse(count_key, count->text, "a whole number from 1 to 10000000");
  if (list != nullptr) {
    if (tokens && list->numbers.size() != *tokens) {
      fields.refuse(
          ids_key, std::to_string(list->numbers.size()) + " ids",
          "as many whole numbers as " + std::string(count_key) + ", " + std::to_string(*tokens));
    }
    ids = list->numbers;
  }
  return tokens.value_or(0);
}

std::string SessionLines::take_call(const JsonTree& object, const std::string& path,
                                    RecordedCall& call, CallTokens& tokens) {
  JsonFields fields(object, path);
  call.prompt_tokens = take_tokens(fields, "input_toks", "input_tok_ids", tokens.prompt);
  call.output_tokens = take_tokens(fields, "output_toks", "output_tok_ids", tokens.answer);
  if (const JsonTree* tools = fields.take_optional("tool_duration_ns", Kind::kNumber)) {
    const auto ns = scaled_decimal(tools->text, 0);
    if (ns && *ns >= 0 && *ns <= 1'000'000'000'000'000'000) {
      call.gap = Duration::nanos(*ns);
    } else {
      fields.refuse("tool_duration_ns", tools->text, "nanoseconds from 0 to 1e18");
    }
  }
  return fields.finish();
}

// Of the prompts that are known, one beside it in their order has most in common with it.
void SessionLines::place_first(RecordedCall& call, const Tokens& prompt) {
  if (prompt.empty()) {
    call.content = trace_.tree.extend(trace_.tree.add_root(), call.prompt_tokens);
    return;
  }
  const auto behind = first_prompts_.lower_bound(prompt);
  ContentTree::Node nearest = 0;
  std::uint32_t most = 0;
  const auto compare = [&](const auto& other) {
    const std::uint32_t common = common_tokens(other.first, prompt);
    if (common <= most) return;
    most = common;
    nearest = other.second;
  };
  if (behind != first_prompts_.end()) compare(*behind);
  if (behind != first_prompts_.begin()) compare(*std::prev(behind));
  const ContentTree::Node shared =
      most > 0 ? trace_.tree.at(nearest, most) : trace_.tree.add_root();
  call.content = trace_.tree.extend(shared, call.prompt_tokens);
  first_prompts_.emplace(prompt, call.content);
}

void SessionLines::place_next(RecordedCall& before, const CallTokens& known, RecordedCall& call,
                              const Tokens& prompt) {
  const std::uint32_t answered = before.prompt_tokens + before.output_tokens;
  std::uint32_t history = 0;
  if (!known.prompt.empty() && !prompt.empty()) {
    Tokens left = known.prompt;
    left.insert(left.end(), known.answer.begin(), known.answer.end());
    history = common_tokens(left, prompt);
    // An answer whose tokens are not told is taken to go on when there is room for it.
    const bool told = !known.answer.empty();
    const bool whole = history == before.prompt_tokens && call.prompt_tokens >= answered;
    if (!told && whole) history = answered;
  } else if (call.prompt_tokens >= before.prompt_tokens) {
    history = call.prompt_tokens >= answered ? answered : before.prompt_tokens;
  } else {
    ++begun_anew_;
  }
  if (history < answered) history = std::min(history, before.prompt_tokens);
  call.history_tokens = history;
  ContentTree::Node from = before.content;
  if (history == answered) {
    before.answered_content = trace_.tree.extend(before.content, answered);
    from = before.answered_content;
  } else if (history == 0) {
    from = trace_.tree.add_root();
  } else {
    from = trace_.tree.at(before.content, history);
  }
  call.content = trace_.tree.extend(from, call.prompt_tokens);
}

std::string SessionLines::take_session(const JsonTree& line) {
  JsonFields fields(line, "");
  const JsonTree* id = fields.take("session_id", Kind::kText);
  const JsonTree* arrival = fields.take("arrival_time_ns", Kind::kNumber);
  const JsonTree* calls = fields.take("sub_requests", Kind::kList);
  if (id != nullptr && (id->text.empty() || !is_name(id->text))) {
    fields.refuse("session_id", id->text, "1 to 256 bytes of UTF-8 text");
  } else if (id != nullptr && !ids_.insert(id->text).second) {
    fields.refuse("session_id", id->text, "one line for each session");
  }
  if (arrival != nullptr && scaled_decimal(arrival->text, 0).value_or(-1) < 0) {
    fields.refuse("arrival_time_ns", arrival->text, "nanoseconds from 0 to 9e18");
  }
  if (calls != nullptr && calls->values.empty()) {
    fields.refuse("sub_requests", std::to_string(calls->numbers.size()) + " calls",
                  "at least one object");
  }
  if (std::string problem = fields.finish(); !problem.empty()) return problem;
  trace_.sessions.push_back({.name = id->text, .chains = {RecordedChain()}});
  return take_calls(*calls, trace_.sessions.back().chains.front().calls);
}

std::string SessionLines::take_calls(const JsonTree& list, std::vector<RecordedCall>& chain) {
  CallTokens before;
  for (std::size_t i = 0; i < list.values.size(); ++i) {
    RecordedCall call;
    CallTokens tokens;
    const std::string path = "sub_requests[" + std::to_string(i) + "].";
    if (std::string problem = take_call(list.values[i], path, call, tokens); !problem.empty()) {
      return problem;
    }
    if (i == 0) {
      place_first(call, tokens.prompt);
    } else {
      place_next(chain.back(), before, call, tokens.prompt);
    }
    chain.push_back(call);
    before = std::move(tokens);
  }
  return "";
}

Result<void> SessionLines::take(const std::string& text) {
  JsonTree line;
  std::string problem = line.parse(text);
  if (problem.empty()) problem = take_session(line);
  if (problem.empty()) return {};
  return fail(ErrorCode::kInvalidInput, problem, place_of(lines_));
}

void SessionLines::finish() {
  trace_.notes.push_back(
      "when the file's sessions arrived is not replayed: they begin as the workload's arrivals "
      "say");
  if (begun_anew_ == 0) return;
  trace_.notes.push_back(counted(begun_anew_, "prompt is", "prompts are") +
                         " shorter than the one before: nothing of that is taken to be in it");
}

}  // namespace

Result<void> read_session_calls_jsonl(std::string first_line, LineReader& lines,
                                      RecordedTrace& trace) {
  SessionLines sessions(lines, trace);
  std::string line = std::move(first_line);
  for (;;) {
    if (const Result<void> taken = sessions.take(line); !taken) return taken;
    const Result<bool> more = next_filled_line(lines, line);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  sessions.finish();
  return {};
}

}  // namespace inferscale
