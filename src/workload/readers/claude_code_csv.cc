// Claude Code's calls in one flat table: a row for each call, and one (type spawn) where an agent
// starts another one, whose rows count their times from there.
//
// Prompts are known by lengths: shared_prefix_blocks_prev is how many blocks of 64 tokens a prompt
// has in common with that of the same agent's row above, blocks_seen_before with any of them. Where
// that is more, the agent went back to an earlier state: the latest prompt is taken that explains
// both figures.

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <utility>
#include <vector>

#include "base/number_text.h"
#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"

namespace inferscale {
namespace {

constexpr std::uint32_t kBlockTokens = 64;
constexpr std::string_view kMainAgent = "main";

enum Column : CsvIndex {
  kTrace,
  kAgent,
  kTime,
  kType,
  kPrompt,
  kOutput,
  kBlocks,
  kShared,
  kSeen,
  kSpawned
};

constexpr std::array<CsvColumn, 16> kColumns = {{{"trace_id"},
                                                 {"agent"},
                                                 {"t_s"},
                                                 {"type"},
                                                 {"in_tokens"},
                                                 {"out_tokens"},
                                                 {"n_blocks64"},
                                                 {"shared_prefix_blocks_prev"},
                                                 {"blocks_seen_before"},
                                                 {"stop_or_subagent"},
                                                 {"idx", false},
                                                 {"api_time_s", false},
                                                 {"think_time_s", false},
                                                 {"ttft_s", false},
                                                 {"output_types_or_duration_ms", false},
                                                 {"model_or_n", false}}};

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
    return std::string(rows_.cell(kTrace)) + "/" + std::string(agent);
  }
  Agent& add_agent(std::string path, std::int64_t begin_ns, std::int64_t session_begin_ns,
                   std::string session);
  Result<Agent*> agent_of_row();
  Result<std::int64_t> time_of_row(const Agent& agent) const;
  Result<void> spawn(const Agent& parent);
  Result<void> add_call(Agent& agent);
  Result<ContentTree::Node> prompt_of_row(Agent& agent, std::uint32_t prompt_tokens);
  Result<std::uint32_t> blocks_in(CsvIndex column, std::uint32_t least, std::uint32_t most,
                                  const std::string& why) const;

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
  for (const CsvIndex column : {kTrace, kAgent}) {
    if (rows_.cell(column).empty() || !is_name(rows_.cell(column))) {
      return rows_.wrong(column, "1 to 256 bytes of UTF-8 text");
    }
  }
  std::string path = path_of(rows_.cell(kAgent));
  const auto known = agents_.find(path);
  if (known != agents_.end()) return &known->second;
  if (rows_.cell(kAgent) != kMainAgent) {
    return rows_.wrong(kAgent,
                       "main, or an agent of this trace that a row of type spawn names "
                       "further up");
  }
  const std::int64_t begin_ns = clock_.next_start_ns();
  return &add_agent(std::move(path), begin_ns, begin_ns, std::string(rows_.cell(kTrace)));
}

Result<std::int64_t> CallTable::time_of_row(const Agent& agent) const {
  const auto time = scaled_decimal(rows_.cell(kTime), 9);
  if (time && *time >= 0) {
    if (const auto sum = SessionClock::later(agent.begin_ns, *time)) return *sum;
  }
  return rows_.wrong(kTime, "seconds from 0 to 9000000000, as a decimal number");
}

Result<void> CallTable::spawn(const Agent& parent) {
  const std::string_view name = rows_.cell(kSpawned);
  if (name.empty() || !is_name(name)) {
    return rows_.wrong(kSpawned, "the name of the agent that starts, 1 to 256 bytes of UTF-8 text");
  }
  std::string path = path_of(rows_.cell(kAgent)) + "/" + std::string(name);
  if (agents_.contains(path)) return rows_.wrong(kSpawned, "an agent that has not started yet");
  const Result<std::int64_t> begin = time_of_row(parent);
  if (!begin) return std::unexpected(begin.error());
  add_agent(std::move(path), *begin, parent.session_begin_ns,
            parent.session + "/" + std::string(name));
  return {};
}

Result<std::uint32_t> CallTable::blocks_in(CsvIndex column, std::uint32_t least, std::uint32_t most,
                                           const std::string& why) const {
  const auto blocks = parse_whole(rows_.cell(column));
  if (blocks && *blocks >= least && *blocks <= most) return static_cast<std::uint32_t>(*blocks);
  return rows_.wrong(column, "a whole number from " + std::to_string(least) + " to " +
                                 std::to_string(most) + ", " + why);
}

Result<ContentTree::Node> CallTable::prompt_of_row(Agent& agent, std::uint32_t prompt_tokens) {
  ContentTree& tree = builder_.tree();
  const ContentTree::Node above = agent.prompts.back();
  const std::uint32_t whole = prompt_tokens / kBlockTokens;
  const auto blocks = blocks_in(kBlocks, whole, whole, "the whole blocks of 64 tokens");
  if (!blocks) return std::unexpected(blocks.error());
  const auto shared = blocks_in(kShared, 0, std::min(*blocks, tree.blocks(above)),
                                "blocks of this prompt and of the one above");
  if (!shared) return std::unexpected(shared.error());
  const auto seen =
      blocks_in(kSeen, *shared, *blocks, "from shared_prefix_blocks_prev to the prompt's blocks");
  if (!seen) return std::unexpected(seen.error());
  if (*seen == *shared) return tree.extend(tree.at(above, *shared), *blocks);
  for (std::size_t i = agent.prompts.size(); i-- > 0;) {
    const ContentTree::Node earlier = agent.prompts[i];
    if (tree.blocks(earlier) < *seen || tree.common(earlier, above) != *shared) continue;
    return tree.extend(tree.at(earlier, *seen), *blocks);
  }
  return rows_.wrong(kSeen,
                     "shared_prefix_blocks_prev, because no earlier prompt of this agent "
                     "is that long and shares just that with the one above");
}

Result<void> CallTable::add_call(Agent& agent) {
  TraceRow row;
  const Result<std::int64_t> arrival = time_of_row(agent);
  if (!arrival) return std::unexpected(arrival.error());
  const auto prompt = token_count(rows_.cell(kPrompt), 1);
  if (!prompt) return rows_.wrong(kPrompt, "a whole number from 1 to 10000000");
  const auto output = token_count(rows_.cell(kOutput), 0);
  if (!output) return rows_.wrong(kOutput, "a whole number from 1 to 10000000");
  const Result<ContentTree::Node> content = prompt_of_row(agent, *prompt);
  if (!content) return std::unexpected(content.error());
  agent.prompts.push_back(*content);
  row.arrival_ns = *arrival;
  row.prompt_tokens = *prompt;
  row.output_tokens = *output;
  row.session = agent.session;
  row.content = *content;
  row.series = agent.series;
  row.session_begin_ns = agent.session_begin_ns;
  return builder_.add(row, {kColumns[kTime].name, rows_.cell(kTime)},
                      {kColumns[kOutput].name, rows_.cell(kOutput)}, lines_);
}

Result<void> CallTable::take() {
  const std::string_view type = rows_.cell(kType);
  if (type != "n" && type != "s" && type != "spawn") {
    return rows_.wrong(kType, "n or s (a call, at once or streamed), or spawn");
  }
  const Result<Agent*> agent = agent_of_row();
  if (!agent) return std::unexpected(agent.error());
  return type == "spawn" ? spawn(**agent) : add_call(**agent);
}

}  // namespace

Result<void> read_claude_code_csv(std::string header, LineReader& lines, TraceBuilder& builder,
                                  SessionClock& clock) {
  Result<CsvRows> rows = CsvRows::open(lines, std::move(header), kColumns);
  if (!rows) return std::unexpected(rows.error());
  builder.set_columns({.session = true,
                       .several_series = true,
                       .block_tokens = kBlockTokens,
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
