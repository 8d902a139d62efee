// Claude Code's calls in one flat table: a row for each call, and one (type spawn) for each agent
// that another one starts, whose rows count their times from its beginning. The time of a spawn row
// is the agent's end if the row says how long it ran, else its beginning (docs/formats/
// session_traces.md).

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload/readers/cell_values.h"
#include "workload/readers/claude_code_table.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"
#include "workload/readers/sessions/claude_code_values.h"

namespace inferscale {
namespace {

class CallTable {
 public:
  CallTable(CsvRows& rows, LineReader& lines, TraceBuilder& builder, SessionClock& clock)
      : rows_(rows), lines_(lines), builder_(builder), clock_(clock) {}
  // Takes the row that `rows` stands at.
  Result<void> take();

 private:
  struct Agent {
    std::int64_t begin_ns = 0;
    std::int64_t session_begin_ns = 0;  // of the agent that the session began with
    std::uint32_t series = 0;
    std::string session;
    std::vector<ContentTree::Node> prompts;  // the root first, then in the order of the rows
  };

  // "trace_0001/main/agent_002"
  std::string path_of(std::string_view agent) const {
    return std::string(rows_.cell(kClaudeTrace)) + "/" + std::string(agent);
  }
  Agent& add_agent(std::string path, std::int64_t begin_ns, std::int64_t session_begin_ns,
                   std::string session);
  Result<Agent*> agent_of_row();
  // On the agent's own clock, and on the trace's.
  Result<std::int64_t> time_of_row(const Agent& agent) const;
  Result<std::int64_t> instant_of_row(const Agent& agent) const;
  Result<std::int64_t> begin_of_spawned(const Agent& parent) const;
  Result<void> spawn(const Agent& parent);
  Result<void> add_call(Agent& agent);

  CsvRows& rows_;
  LineReader& lines_;
  TraceBuilder& builder_;
  SessionClock& clock_;
  std::map<std::string, Agent> agents_;  // by path
};

CallTable::Agent& CallTable::add_agent(std::string path, std::int64_t begin_ns,
                                       std::int64_t session_begin_ns, std::string session) {
  Agent& agent = agents_[std::move(path)];
  agent.begin_ns = begin_ns;
  agent.session_begin_ns = session_begin_ns;
  agent.series = static_cast<std::uint32_t>(agents_.size() - 1);
  agent.session = std::move(session);
  agent.prompts = {builder_.tree().add_root()};
  return agent;
}

Result<CallTable::Agent*> CallTable::agent_of_row() {
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
                       "main, or an agent of this trace that a row of type spawn names "
                       "further up");
  }
  const std::int64_t begin_ns = clock_.next_start_ns();
  return &add_agent(std::move(path), begin_ns, begin_ns, std::string(rows_.cell(kClaudeTrace)));
}

Result<std::int64_t> CallTable::time_of_row(const Agent& agent) const {
  const auto time = scaled_decimal(rows_.cell(kClaudeTime), 9);
  if (time && *time >= 0 && SessionClock::later(agent.begin_ns, *time)) return *time;
  return rows_.wrong(kClaudeTime, "seconds from 0 to 9000000000, as a decimal number");
}

Result<std::int64_t> CallTable::instant_of_row(const Agent& agent) const {
  const Result<std::int64_t> time = time_of_row(agent);
  if (!time) return time;
  return agent.begin_ns + *time;
}

Result<std::int64_t> CallTable::begin_of_spawned(const Agent& parent) const {
  const Result<std::int64_t> time = time_of_row(parent);
  if (!time) return time;
  std::optional<std::int64_t> ran = 0;
  if (rows_.has(kClaudeDuration) && !rows_.cell(kClaudeDuration).empty()) {
    ran = recorded_time(rows_.cell(kClaudeDuration), 6);
  }
  if (!ran) return rows_.wrong(kClaudeDuration, kMillisecondsExpected);
  return parent.begin_ns + std::max<std::int64_t>(0, *time - *ran);
}

Result<void> CallTable::spawn(const Agent& parent) {
  const std::string_view name = rows_.cell(kClaudeStop);
  if (name.empty() || !is_name(name)) {
    return rows_.wrong(kClaudeStop,
                       "the name of the agent that starts, 1 to 256 bytes of UTF-8 text");
  }
  std::string path = path_of(rows_.cell(kClaudeAgent)) + "/" + std::string(name);
  if (agents_.contains(path)) return rows_.wrong(kClaudeStop, "an agent that has not started yet");
  const Result<std::int64_t> begin = begin_of_spawned(parent);
  if (!begin) return std::unexpected(begin.error());
  add_agent(std::move(path), *begin, parent.session_begin_ns,
            parent.session + "/" + std::string(name));
  return {};
}

Result<void> CallTable::add_call(Agent& agent) {
  TraceRow row;
  const Result<std::int64_t> arrival = instant_of_row(agent);
  if (!arrival) return std::unexpected(arrival.error());
  const auto prompt = token_count(rows_.cell(kClaudePrompt), 1);
  if (!prompt) return rows_.wrong(kClaudePrompt, "a whole number from 1 to 10000000");
  const auto output = token_count(rows_.cell(kClaudeOutput), 0);
  if (!output) return rows_.wrong(kClaudeOutput, "a whole number from 1 to 10000000");
  const Result<ContentTree::Node> content =
      claude_table_prompt(rows_, *prompt, builder_.tree(), agent.prompts);
  if (!content) return std::unexpected(content.error());
  row.arrival_ns = *arrival;
  row.prompt_tokens = *prompt;
  row.output_tokens = *output;
  row.session = agent.session;
  row.content = *content;
  row.series = agent.series;
  row.session_begin_ns = agent.session_begin_ns;
  return builder_.add(row, {kClaudeColumns[kClaudeTime].name, rows_.cell(kClaudeTime)},
                      {kClaudeColumns[kClaudeOutput].name, rows_.cell(kClaudeOutput)}, lines_);
}

Result<void> CallTable::take() {
  const std::string_view type = rows_.cell(kClaudeType);
  if (type != "n" && type != "s" && type != "spawn") {
    return rows_.wrong(kClaudeType, "n or s (a call, at once or streamed), or spawn");
  }
  const Result<Agent*> agent = agent_of_row();
  if (!agent) return std::unexpected(agent.error());
  return type == "spawn" ? spawn(**agent) : add_call(**agent);
}

}  // namespace

Result<void> read_claude_code_csv(std::string header, LineReader& lines, TraceBuilder& builder,
                                  SessionClock& clock) {
  Result<CsvRows> rows = CsvRows::open(lines, std::move(header), kClaudeColumns);
  if (!rows) return std::unexpected(rows.error());
  builder.set_columns({.session = true,
                       .several_series = true,
                       .block_tokens = kClaudeTableBlockTokens,
                       .session_begins = true,
                       .content_tree = true});
  CallTable table(*rows, lines, builder, clock);
  for (;;) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    if (const Result<void> taken = table.take(); !taken) return taken;
  }
}

}  // namespace inferscale
