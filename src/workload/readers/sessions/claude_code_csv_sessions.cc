// The table of Claude Code's calls as sessions. claude_code_table.h has its columns.
//
// t_s is when a call began, counted from its agent's beginning, and api_time_s how long its answer
// took. A row of type spawn stands where the agent that it names had ended: its t_s is the end when
// the row says how long the agent ran, and else, for an agent in the background, the beginning.
// docs/formats/session_traces.md shows how that was found out.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workload/readers/cell_values.h"
#include "workload/readers/claude_code_table.h"
#include "workload/readers/sessions/claude_code_values.h"
#include "workload/readers/sessions/session_formats.h"

namespace inferscale {
namespace {

class SessionTable {
 public:
  SessionTable(CsvRows& rows, RecordedTrace& trace) : rows_(rows), trace_(trace) {}
  Result<void> take();
  void finish();

 private:
  struct Agent {
    std::size_t session = 0;
    std::uint32_t chain = 0;
    std::vector<ContentTree::Node> prompts;  // the root first, then in the order of the rows
  };

  std::string path_of(std::string_view agent) const {
    return std::string(rows_.cell(kClaudeTrace)) + "/" + std::string(agent);
  }
  TimedChain& chain_of(const Agent& agent) { return sessions_[agent.session].chains[agent.chain]; }
  Agent& add_agent(std::string path, std::size_t session);
  Result<Agent*> agent_of_row();
  Result<std::int64_t> time_in(ClaudeColumn column, int decimals, const char* expected) const;
  Result<std::int64_t> start_of_row(const TimedChain& chain) const;
  Result<void> spawn(const Agent& parent);
  Result<void> add_call(Agent& agent);

  CsvRows& rows_;
  RecordedTrace& trace_;
  std::map<std::string, Agent> agents_;  // by path
  std::vector<TimedSession> sessions_;
  std::uint64_t failed_ = 0;
};

SessionTable::Agent& SessionTable::add_agent(std::string path, std::size_t session) {
  Agent& agent = agents_[std::move(path)];
  agent.session = session;
  agent.chain = static_cast<std::uint32_t>(sessions_[session].chains.size());
  agent.prompts = {trace_.tree.add_root()};
  sessions_[session].chains.emplace_back();
  return agent;
}

Result<SessionTable::Agent*> SessionTable::agent_of_row() {
  for (const CsvIndex column : {kClaudeTrace, kClaudeAgent}) {
    if (rows_.cell(column).empty() || !is_name(rows_.cell(column))) {
      return rows_.wrong(column, "1 to 256 bytes of UTF-8 text");
    }
  }
  std::string path = path_of(rows_.cell(kClaudeAgent));
  const auto known = agents_.find(path);
  if (known != agents_.end()) return &known->second;
  if (rows_.cell(kClaudeAgent) != kClaudeMainAgent) {
    return rows_.wrong(kClaudeAgent,
                       "main, or an agent of this trace that a row of type spawn names further up");
  }
  sessions_.push_back({.name = std::string(rows_.cell(kClaudeTrace))});
  return &add_agent(std::move(path), sessions_.size() - 1);
}

Result<std::int64_t> SessionTable::time_in(ClaudeColumn column, int decimals,
                                           const char* expected) const {
  if (const auto time = recorded_time(rows_.cell(column), decimals)) return *time;
  return rows_.wrong(column, expected);
}

Result<void> SessionTable::spawn(const Agent& parent) {
  const std::string_view name = rows_.cell(kClaudeStop);
  if (name.empty() || !is_name(name)) {
    return rows_.wrong(kClaudeStop,
                       "the name of the agent that starts, 1 to 256 bytes of UTF-8 text");
  }
  std::string path = path_of(rows_.cell(kClaudeAgent)) + "/" + std::string(name);
  if (agents_.contains(path)) return rows_.wrong(kClaudeStop, "an agent that has not started yet");
  const Result<std::int64_t> time = time_in(kClaudeTime, 9, kSecondsExpected);
  if (!time) return std::unexpected(time.error());
  std::int64_t ran = 0;
  if (rows_.has(kClaudeDuration) && !rows_.cell(kClaudeDuration).empty()) {
    const Result<std::int64_t> duration = time_in(kClaudeDuration, 6, kMillisecondsExpected);
    if (!duration) return std::unexpected(duration.error());
    ran = *duration;
  }
  const std::uint32_t parent_chain = parent.chain;
  TimedChain& chain = chain_of(add_agent(std::move(path), parent.session));
  chain.parent = parent_chain;
  chain.begin_ns = std::max<std::int64_t>(0, *time - ran);
  return {};
}

Result<std::int64_t> SessionTable::start_of_row(const TimedChain& chain) const {
  const Result<std::int64_t> start = time_in(kClaudeTime, 9, kSecondsExpected);
  if (start && !chain.calls.empty() && *start < chain.calls.back().start_ns) {
    return rows_.wrong(kClaudeTime, "not before the row above it of the same agent");
  }
  return start;
}

Result<void> SessionTable::add_call(Agent& agent) {
  TimedChain& chain = chain_of(agent);
  TimedCall timed;
  const Result<std::int64_t> start = start_of_row(chain);
  if (!start) return std::unexpected(start.error());
  timed.start_ns = *start;
  if (rows_.has(kClaudeAnswerTime) && !rows_.cell(kClaudeAnswerTime).empty()) {
    const Result<std::int64_t> answer = time_in(kClaudeAnswerTime, 9, kSecondsExpected);
    if (!answer) return std::unexpected(answer.error());
    timed.answer_ns = *answer;
  }
  const auto prompt = token_count(rows_.cell(kClaudePrompt), 1);
  if (!prompt) return rows_.wrong(kClaudePrompt, "a whole number from 1 to 10000000");
  const auto output = token_count(rows_.cell(kClaudeOutput), 0);
  if (!output) {
    return rows_.wrong(kClaudeOutput, "a whole number from 0 (a failed call) to 10000000");
  }
  const Result<ContentTree::Node> content =
      claude_table_prompt(rows_, *prompt, trace_.tree, agent.prompts);
  if (!content) return std::unexpected(content.error());
  if (*output == 0) {
    ++failed_;
    return {};
  }
  timed.call.prompt_tokens = *prompt;
  timed.call.output_tokens = *output;
  timed.call.content = *content;
  timed.call.waits_for_person = rows_.cell(kClaudeStop) == kEndOfTurn;
  if (!chain.calls.empty()) {
    timed.call.history_tokens =
        trace_.tree.common(chain.calls.back().call.content, *content) * kClaudeTableBlockTokens;
  }
  chain.calls.push_back(timed);
  return {};
}

Result<void> SessionTable::take() {
  const std::string_view type = rows_.cell(kClaudeType);
  if (type != "n" && type != "s" && type != "spawn") {
    return rows_.wrong(kClaudeType, "n or s (a call, at once or streamed), or spawn");
  }
  const Result<Agent*> agent = agent_of_row();
  if (!agent) return std::unexpected(agent.error());
  return type == "spawn" ? spawn(**agent) : add_call(**agent);
}

void SessionTable::finish() {
  if (failed_ > 0) trace_.notes.push_back(failed_calls_note(failed_));
  take_timed_sessions(std::move(sessions_), trace_);
}

}  // namespace

Result<void> read_claude_code_csv_sessions(std::string header, LineReader& lines,
                                           RecordedTrace& trace) {
  Result<CsvRows> rows = CsvRows::open(lines, std::move(header), kClaudeColumns);
  if (!rows) return std::unexpected(rows.error());
  trace.tree_block_tokens = kClaudeTableBlockTokens;
  trace.notes.push_back(kSessionTimesNote);
  SessionTable table(*rows, trace);
  for (;;) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    if (const Result<void> taken = table.take(); !taken) return taken;
  }
  table.finish();
  return {};
}

}  // namespace inferscale
